#include "planner/lower/lower.hpp"

#include "planner/lower/run_passes.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/applicable.hpp>
#include <gnnplan/ir/finishes.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace gnnplan::lower {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint = "") {
    throw Error(ErrorCode::usage, what, where, hint);
}

void check_letters(const SiteGraph& model, const Configuration& configuration) {
    const auto layers = static_cast<std::size_t>(model.depth);
    const std::string letters = text(configuration.forward) + " " + text(configuration.backward);
    const std::size_t back = model.trains() ? layers : 0;
    if (configuration.forward.size() != layers || configuration.backward.size() != back ||
        configuration.operands.size() != back) {
        refuse("a network of " + std::to_string(layers) + " layers needs as many letters a pass", "orders " + letters);
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const int layer = static_cast<int>(i) + 1;
        const Order backward = back > 0 ? configuration.backward[layers - 1 - i] : Order::none;
        const Site& product = model.product(layer);
        const std::optional<OnlyOrders> only = product.only_orders();
        const bool fits = !only || (configuration.forward[i] == only->forward &&
                                    (back == 0 || configuration.operands[i] == only->operand) &&
                                    (backward == only->backward || backward == Order::none));
        if (!fits)
            refuse("layer " + std::to_string(layer) + " " + std::string(product.why_one_order()) +
                       ": its products have one order",
                   "orders " + letters, text({only->forward}) + " forward and " + text({only->backward}) + " backward");
        const bool ordered = back > 0 && model.orders_backward(layer);
        if (configuration.forward[i] == Order::none || (ordered && backward == Order::none)) {
            refuse("only layer 1's backward letter may be '-', and only where it reads the features",
                   "orders " + letters);
        }
    }
}

// Choices that exclude each other.
void check_choices(const SiteGraph& model, const Configuration& configuration) {
    const bool first_is_sparse = configuration.forward.front() == Order::sparse_first;
    const bool kept_for_weights = !model.product(1).maps() || configuration.operands.empty() ||
                                  configuration.operands.front() == Operand::product;
    if (configuration.cached_aggregation && (!configuration.constant_input || !first_is_sparse || !kept_for_weights)) {
        refuse("the first aggregation can be cached only when the input is constant and layer 1 starts with it",
               "cached_aggregation");
    }
    const bool full_space = !paper_semantics(model, configuration);
    if (configuration.replicated_input && !model.product(1).maps())
        refuse("whole rows of the features are for a first layer that has a linear map", "replicated_input");
    if (configuration.replicated_input && (!full_space || (first_is_sparse && !configuration.cached_aggregation))) {
        refuse("a replicated input needs a first layer that transforms first, or a cached aggregation",
               "replicated_input");
    }
    if (configuration.sharing == Sharing::block_distributed && configuration.grid.y > 1 &&
        (configuration.grid.z > 1 || configuration.replicated_input || configuration.column_loss)) {
        refuse("CAGNET's 1.5D has no columns to split", "scheme 1.5d");
    }
}

// Clones get sums of each other's; late ones are of what layers read, and the gradients of weights need them.
void check_delay(const SiteGraph& model, const Configuration& configuration) {
    if (!configuration.delay) return;
    if (!configuration.grid.grouped()) refuse("ranks that train together have no clones", "delay");
    const Distribution parts{Sharing::cut, configuration.grid};
    if (const auto why = why_not_on(model, parts, configuration.attention)) refuse(std::string(*why), "delay");
    if (*configuration.delay == 0) return;
    const bool read = std::ranges::all_of(configuration.forward, [](Order o) { return o == Order::sparse_first; }) &&
                      std::ranges::all_of(configuration.operands, [](Operand o) { return o == Operand::product; });
    for (const int product : model.products) {
        if (model.at(product).propagates()) refuse("late sums are of layers that aggregate once", "delay");
    }
    if (!read || configuration.cached_aggregation)
        refuse("late sums are made in every epoch, of what layers read, and kept for gradients of weights", "delay");
}

// Groups train on graphs of their own, of whose vertices they compute all.
void check_groups(const SiteGraph& model, const Configuration& configuration) {
    check_delay(model, configuration);
    if (!configuration.grid.grouped()) return;
    if (model.last_over_rows() > 0)
        refuse("a batch norm is over all vertices, of which a group of ranks has some",
               "grid " + configuration.grid.text());
    const bool replicated = configuration.sharing == Sharing::replicated && configuration.grid.z == 1;
    if (!replicated || configuration.loss_rows || configuration.backward.empty())
        refuse("groups of ranks share rows along y alone, and train on all of them",
               "grid " + configuration.grid.text());
}

// One pass keeps nothing, has no loss and computes all vertices. Nobody wants whole rows of its matrices afterwards.
void check_inference(const SiteGraph& model, const Configuration& configuration) {
    if (configuration.ring) {
        if (const auto why = why_no_ring(model, configuration.on())) refuse(std::string(*why), "ring");
    }
    if (model.trains()) return;
    if (configuration.cached_aggregation || configuration.column_loss || configuration.loss_rows)
        refuse("an inference has no loss, and no second pass to keep anything for",
               configuration.cached_aggregation ? "cached_aggregation"
               : configuration.column_loss      ? "column_loss"
                                                : "loss_rows");
}

void check_neighbourhoods(const SiteGraph& model, const Configuration& configuration) {
    if (const auto why = why_not_on(model, configuration.on(), configuration.attention))
        refuse(std::string(*why), "scheme " + scheme_of(configuration) + " on " + configuration.grid.text());
    if (configuration.cached_aggregation && !model.aggregates_features())
        refuse("layer 1 does not aggregate the features as they are, so there is nothing to cache",
               "cached_aggregation");
}

void check(const SiteGraph& model, const Configuration& configuration) {
    check_letters(model, configuration);
    check_inference(model, configuration);
    check_choices(model, configuration);
    check_neighbourhoods(model, configuration);
    if (model.at(model.sites.back().input).activation != Activation::none)
        refuse("neither a loss nor an output can follow an activation directly: they are of logits", "the last layer");
}

// Evaluation reads every vertex: what training caches serves it only when that is of every vertex too.
void lower_evaluation(Builder& builder, const GraphShape& graph, std::map<int, TensorId> kept) {
    const bool whole =
        std::ranges::all_of(kept, [&](const auto& made) { return builder.tensor(made.second).rows == graph.vertices; });
    if (!whole || builder.rules().configuration().grid.grouped()) kept.clear();
    builder.begin_phase(Phase::evaluation);
    lower_passes(builder, false, std::move(kept));
}

Schedule lower_phases(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph,
                      bool evaluates) {
    check(model, configuration);
    check_groups(model, configuration);
    Builder builder(model, configuration, graph);
    const std::map<int, TensorId> kept = lower_setup(builder);
    builder.begin_phase(Phase::epoch);
    lower_passes(builder, model.trains(), kept);
    if (evaluates) lower_evaluation(builder, graph, kept);
    Schedule schedule = builder.take();
    set_wire(schedule, configuration.wire);
    mark_finishes(schedule);
    return schedule;
}

}  // namespace

Schedule lower(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph) {
    return lower_phases(model, configuration, graph, model.trains());
}

Schedule lower_epoch(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph) {
    return lower_phases(model, configuration, graph, false);
}

}  // namespace gnnplan::lower
