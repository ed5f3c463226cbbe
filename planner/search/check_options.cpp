#include "planner/search/check_options.hpp"

#include "planner/search/draws.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/option.hpp>

#include <algorithm>

namespace gnnplan::search {
namespace {

// Bytes and operations are added up over steps and ranks in 64 bits: refuses sizes whose sums might not fit.
void check_total_size(const Space& space) {
    constexpr std::int64_t bytes_per_element = 4;
    constexpr std::int64_t uses_per_layer =
        32;  // steps that touch a matrix of a layer, both phases, with room to spare
    try {
        std::int64_t elements = space.graph->nonzeros();
        for (std::size_t l = 0; l < space.widths.size(); ++l) {
            elements = checked_add(elements, checked_multiply(space.graph->vertices(), space.widths[l]));
            if (l > 0) elements = checked_add(elements, checked_multiply(space.widths[l - 1], space.widths[l]));
        }
        checked_multiply(checked_multiply(elements, bytes_per_element * uses_per_layer), space.ranks);
    } catch (const Error&) {
        throw Error(ErrorCode::usage, "sizes too large: vertices x widths x ranks does not fit 64-bit byte counts");
    }
}

void check_ranks(int ranks) {
    if (ranks >= 1 && ranks <= max_ranks) return;
    throw Error(ErrorCode::usage, std::to_string(ranks) + " is not 1.." + std::to_string(max_ranks), "`ranks`");
}

void check_pinned(const std::optional<Orders>& orders, std::size_t layers, const char* option) {
    if (orders && orders->size() != layers) {
        throw Error(ErrorCode::usage,
                    "'" + text(*orders) + "' has " + std::to_string(orders->size()) + " letters for " +
                        std::to_string(layers) + " layers",
                    option);
    }
}

// '-' stands for a gradient that nobody needs: layer 1's in the full space, which may be written S or D there too.
void check_letters(const SelectOptions& options, const SiteGraph& model) {
    const auto refuse = [](const Orders& orders, const char* option) {
        throw Error(ErrorCode::usage, "only layer 1's backward letter may be '-', in the full space",
                    option_text(option, text(orders)));
    };
    for (const Order order : options.forward.value_or(Orders{})) {
        if (order == Order::none) refuse(*options.forward, "forward");
    }
    const Orders backward = options.backward.value_or(Orders{});
    for (std::size_t i = 0; i < backward.size(); ++i) {
        const bool allowed = options.space == SearchSpace::full && i + 1 == backward.size();
        if (backward[i] == Order::none && !allowed) refuse(backward, "backward");
    }
    if (!backward.empty() && backward.back() == Order::none && model.orders_backward(1))
        throw Error(ErrorCode::usage,
                    "layer 1 reads what linear maps make of the features, so that its backward letter is S or D",
                    option_text("backward", text(backward)));
}

// The paper counts networks whose layers are products alone.
void check_paper_model(const Space& space) {
    const auto more = [](const Site& site) {
        const bool product = site.kind == SiteKind::product;
        return site.kind == SiteKind::linear || site.kind == SiteKind::norm ||
               (product && (!site.reorderable() || site.propagates() || site.adds_self() || site.share != 1));
    };
    if (space.options.space != SearchSpace::paper ||
        std::none_of(space.model.sites.begin(), space.model.sites.end(), more))
        return;
    throw Error(ErrorCode::usage,
                "the paper's space covers only layers of one summing aggregation and one weight matrix; this " +
                    space.model.model + " has other layers",
                "`space`", "use `space full`");
}

// Refuses options that need a backward pass or a second epoch.
void check_inference(const Space& space, const RunRecord& run) {
    if (space.model.trains()) return;
    const auto refuse = [](const std::string& what, const char* where) {
        throw Error(ErrorCode::usage, "an inference has no " + what, where, "leave it out, or plan with `task train`");
    };
    if (space.options.space == SearchSpace::paper)
        throw Error(ErrorCode::usage, "the paper's space is of training", "`space`", "use `space full`");
    if (space.options.backward) refuse("backward pass", "`backward`");
    if (space.options.drops_features.value_or(run.drops_features().value_or(false)) || run.dropout.value_or(0) > 0 ||
        run.attention_dropout > 0)
        refuse("dropout", "`dropout`");
}

// Each layer draws edges once.
void check_aggregates_once(const SiteGraph& model, const char* where) {
    for (const int product : model.products) {
        if (model.at(product).propagates() || model.of_features(product))
            throw Error(ErrorCode::usage,
                        "neighbours are drawn for one sum a layer, and " + model.model + " propagates", where,
                        "leave it out: all neighbours take part");
    }
}

// Edges that layers draw.
void check_drawn(const Space& space, const std::vector<std::int64_t>& fanout) {
    if (fanout.empty()) return;
    check_draws(space.model.trains(), fanout);
    check_aggregates_once(space.model, "`fanout`");
    if (fanout.size() != space.depth())
        throw Error(
            ErrorCode::usage,
            std::to_string(fanout.size()) + " numbers of neighbours for " + std::to_string(space.depth()) + " layers",
            "`fanout`", "give one for each layer, the first layer's first");
    ensure(space.graph->samples() == static_cast<int>(space.depth()), "the graph has what layers have drawn");
}

// Letters of layers whose products have one order.
void check_only_orders(const Space& space) {
    const auto check = [&](const std::optional<Orders>& orders, bool backward, const char* option) {
        for (std::size_t i = 0; orders && i < orders->size(); ++i) {
            const auto layer = static_cast<int>(backward ? orders->size() - i : i + 1);
            const Site& product = space.model.product(layer);
            const std::optional<OnlyOrders> only = product.only_orders();
            if (!only || (*orders)[i] == Order::none) continue;
            const Order order = backward ? only->backward : only->forward;
            if ((*orders)[i] == order) continue;
            throw Error(ErrorCode::usage,
                        "layer " + std::to_string(layer) + " " + std::string(product.why_one_order()) +
                            ", so its letter in this pass must be " + text({order}),
                        option_text(option, text(*orders)));
        }
    };
    check(space.options.forward, false, "forward");
    check(space.options.backward, true, "backward");
}

void check_buffer(const SelectOptions& options) {
    if (options.buffer_bytes < 0) throw Error(ErrorCode::usage, "a buffer must not be negative", "`buffer`");
    if (options.buffer_bytes > 0 && options.space == SearchSpace::paper)
        throw Error(ErrorCode::usage, "the paper's space sends whole blocks, whatever buffers they take", "`buffer`",
                    "use `space full`");
}

// Updates that are of batches of the graph.
void check_batches(const Space& space, const ProblemRecord& problem) {
    if (!space.batches) return;
    const bool pool = space.batches->sampling.has_pool();
    const char* const flag = pool ? "`sampler`" : "`fanout`";
    const auto refuse = [&](const std::string& why, const char* where, const char* hint) {
        throw Error(ErrorCode::usage,
                    (pool ? "updates cannot be of batches: " : "updates cannot draw neighbours: ") + why, where, hint);
    };
    const SelectOptions& options = space.options;
    if (!space.model.trains()) refuse("an inference makes none", flag, "leave it out");
    if (!pool) check_aggregates_once(space.model, flag);
    if (!pool && space.batches->per_update != 1) refuse("each is of one graph", flag, "leave out `sampler`");
    if (space.model.last_over_rows() > 0)
        refuse("batch norms keep statistics of all vertices", "`norm`", "say `norm layer`, or leave out what draws");
    check_sampling(space.batches->sampling, space.graph->vertices());
    if (problem.loading == Loading::sharded)
        refuse("they are drawn from the whole graph", "`load`", "say `load whole`");
    if (options.space == SearchSpace::paper) refuse("the paper space has no batches", "`space`", "say `space full`");
    if (options.scheme || options.replication)
        refuse("the ranks that share them do so as RDM does", options.scheme ? "`scheme`" : "`replication`",
               pool ? "leave it out, and say with `grid` how many groups" : "leave it out");
    if (options.partition)
        refuse(pool ? "their vertices are drawn, whatever numbers they have"
                    : "all ranks share the rows of each, whatever numbers these have",
               "`partition`", "leave it out");
    if (options.buffer_bytes > 0) refuse("ranks exchange no blocks of their matrix", "`buffer`", "leave it out");
    if (options.constant_input) refuse("each has other features", "`constant-input`", "leave it out");
}

void check_limits(const SelectOptions& options) {
    if (options.candidates < 1 || options.candidates > max_candidates) {
        throw Error(ErrorCode::usage, "a plan holds 1.." + std::to_string(max_candidates) + " candidates",
                    "candidates");
    }
    if (options.memory_per_rank < 0) throw Error(ErrorCode::usage, "memory must not be negative", "`memory`");
    check_buffer(options);
}

}  // namespace

void check_options(const Space& space, const ProblemRecord& problem) {
    check_ranks(space.ranks);
    check_inference(space, problem.run);
    check_paper_model(space);
    check_total_size(space);
    check_pinned(space.options.forward, space.depth(), "`forward`");
    check_pinned(space.options.backward, space.depth(), "`backward`");
    check_letters(space.options, space.model);
    check_only_orders(space);
    check_drawn(space, problem.fanout);
    check_batches(space, problem);
    if (space.graph->weighted()) check_reads_weights(space.model);
    if (problem.run.attention_dropout > 0 && !space.model.reduces_by(Reduce::attention))
        throw Error(ErrorCode::usage, space.model.model + " has no weights of attention to drop", "`attention-dropout`",
                    "only gat has");
    enumerate::check_pins(asked(space));
    check_limits(space.options);
}

}  // namespace gnnplan::search
