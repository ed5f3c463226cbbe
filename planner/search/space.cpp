#include "planner/search/space.hpp"

#include "planner/cost/cache.hpp"
#include "planner/cost/loading.hpp"
#include "planner/cost/predict.hpp"
#include "planner/enumerate/replication.hpp"
#include "planner/lower/rules.hpp"
#include "planner/search/draws.hpp"
#include "planner/search/full_space.hpp"

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
void check_letters(const SelectOptions& options) {
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
}

// The paper counts networks whose layers are products alone.
void check_paper_model(const Space& space) {
    const auto more = [](const Site& site) {
        return site.kind == SiteKind::linear || !site.reorderable() || site.adds_self();
    };
    if (space.options.space != SearchSpace::paper ||
        std::none_of(space.model.sites.begin(), space.model.sites.end(), more))
        return;
    throw Error(ErrorCode::usage,
                "the paper's space covers only layers of one summing aggregation and one weight matrix; this " +
                    space.model.model + " has other layers",
                "`space`", "use `space full`");
}

// What asks for a backward pass, a loss or a second epoch.
void check_inference(Space& space, const RunRecord& run) {
    if (space.model.trains()) return;
    const auto refuse = [](const std::string& what, const char* where) {
        throw Error(ErrorCode::usage, "an inference has no " + what, where, "leave it out, or plan with `task train`");
    };
    if (space.options.space == SearchSpace::paper)
        throw Error(ErrorCode::usage, "the paper's space is of training", "`space`", "use `space full`");
    if (space.options.backward) refuse("backward pass", "`backward`");
    if (space.options.loss_rows.value_or(false))
        refuse("loss to compute rows for: it is of all vertices", "`loss-rows`");
    if (space.options.drops_features.value_or(run.drops_features().value_or(false)) || run.dropout.value_or(0) > 0 ||
        run.attention_dropout > 0)
        refuse("dropout", "`dropout`");
    space.options.loss_rows = false;
    space.options.drops_features = false;
    space.options.constant_input = true;
}

// Edges that layers draw come with what each of them stands for, where that is read.
void take_drawn(Space& space, const std::vector<std::int64_t>& fanout) {
    if (fanout.empty()) return;
    check_draws(space.model.trains(), fanout);
    if (fanout.size() != space.depth())
        throw Error(
            ErrorCode::usage,
            std::to_string(fanout.size()) + " numbers of neighbours for " + std::to_string(space.depth()) + " layers",
            "`fanout`", "give one for each layer, the first layer's first");
    ensure(space.graph->samples() == static_cast<int>(space.depth()), "the graph has what layers have drawn");
    for (int layer = 1; layer <= space.graph->samples(); ++layer) space.shape.samples.push_back(layer);
    if (!space.graph->samples_weighted()) return;
    if (space.options.factored_values.value_or(false))
        throw Error(ErrorCode::usage,
                    "an edge that was drawn stands for several, so values are no products of two scales", "`values`",
                    "use `values stored`, or `fanout full`");
    space.options.factored_values = false;
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

// Moves the grids on which a layer cannot see whole neighbourhoods, though it must, to those that are refused.
void refuse_grids(Space& space) {
    if (!space.needs_whole_neighbourhoods()) return;
    const bool stores = space.options.attention == AttentionScores::stored;
    const bool keeps_values = space.compares() || stores;  // of edges, which lie with whole neighbourhoods
    const auto first = std::stable_partition(space.grids.begin(), space.grids.end(), [&](const Distribution& on) {
        return !on.splits_neighbourhoods() && !(keeps_values && on.sends_nonzeros());
    });
    space.refused.assign(first, space.grids.end());
    space.grids.erase(first, space.grids.end());
    if (!space.grids.empty()) return;
    if (keeps_values)
        throw Error(ErrorCode::usage,
                    space.model.model + (stores ? " stores scores of edges" : " keeps values of edges") +
                        ", so a rank must have all edges of its vertices",
                    "`grid`", "grids of the schemes rdm and 1d with z = 1 can");
    throw Error(
        ErrorCode::usage,
        space.model.model + " needs a vertex's neighbours together, for a maximum or a softmax, which are no sums",
        "`grid`", "grids of the schemes rdm, 1d and 2d with z = 1 can");
}

void check_buffer(const SelectOptions& options) {
    if (options.buffer_bytes < 0) throw Error(ErrorCode::usage, "a buffer must not be negative", "`buffer`");
    if (options.buffer_bytes > 0 && options.space == SearchSpace::paper)
        throw Error(ErrorCode::usage, "the paper's space sends whole blocks, whatever buffers they take", "`buffer`",
                    "use `space full`");
}

// Options that only some models have a use for.
void check_used(const Space& space, const RunRecord& run) {
    const auto refuse = [&](const std::string& what, const char* where, const char* hint) {
        throw Error(ErrorCode::usage, space.model.model + " " + what, where, hint);
    };
    if (run.attention_dropout > 0 && !space.attends())
        refuse("has no weights of attention to drop", "`attention-dropout`", "only gat has");
    if (space.options.scores && !space.compares())
        refuse("makes no scores of its edges from whole vertices", "`scores`", "only agnn does");
    if (space.options.attention && !space.attends())
        refuse("has no additive attention, whose scores are computed again or stored", "`attention`", "only gat has");
    if (space.options.attention && !space.may_store_scores())
        refuse("has no backward pass in an inference, which would want scores", "`attention`", "leave it out");
    if (space.options.bf16 && !space.reads_values() && !space.compares())
        refuse("has no product that rounds its operand", "`bf16`", "gcn, gin, and sage with mean, sum or gcn have");
}

// A ring that is asked for, where no grid or no product of the model can have one.
void check_ring(const Space& space) {
    if (!space.options.ring.value_or(false)) return;
    const auto refuse = [](const std::string& what, const char* hint) {
        throw Error(ErrorCode::usage, what, "`ring`", hint);
    };
    if (space.model.trains()) refuse("weight gradients need whole rows, which a ring never makes", "use `task infer`");
    bool splits = false;
    for (const Distribution& on : space.grids) {
        if (!on.splits_columns()) continue;
        splits = true;
        for (const Choices& choices : regular_choices(space, on)) {
            ConfigurationFrame frame{on};
            frame.switches.ring = true, frame.trains = false;
            const Configuration configuration = configuration_of(frame, choices);
            if (lower::Rules(space.model, configuration).any_rings()) return;
        }
    }
    if (!splits) refuse("ranks exchange columns in a ring, and no such grid splits them", "a grid XxY with Y > 1 does");
    refuse("no dense product of this " + space.model.model + " is between two matrices that are split by columns",
           "leave it out; other `forward` orders may have one");
}

// Training that is to load its graph in shares keeps to numberings that do not take the whole graph.
void keep_to_shares(Space& space) {
    if (!space.model.trains()) return;
    const bool pruned = space.options.loss_rows.value_or(false);
    if (pruned || space.options.partition) {
        throw Error(ErrorCode::usage,
                    pruned ? "which rows the loss needs is found out from the whole graph"
                           : "parts are made of the whole graph",
                    "`load`", "use `load whole`, or leave out what asks for it");
    }
    space.options.loss_rows = false;
}

// Values that are made of the edges' weights are read by sums alone, and stored.
void check_weighted(Space& space) {
    if (!space.graph->weighted()) return;
    check_reads_weights(space.model);
    if (space.options.factored_values.value_or(false)) {
        throw Error(ErrorCode::usage, "with weights of edges, values are no products of two scales", "`values`",
                    "use `values stored`, or leave out `edge-weights`");
    }
    space.options.factored_values = false;
}

// The paper space is RDM's; other published schemes are found in it by name.
std::vector<Distribution> grids_of(const Space& space) {
    enumerate::GridChoice choice{space.options.scheme, space.options.replication, space.options.grid};
    const bool paper = space.options.space == SearchSpace::paper;
    if (paper && !choice.scheme) choice.scheme = "rdm";
    const bool rdm = paper && choice.scheme == "rdm";
    if (!rdm) return enumerate::distributions(space.ranks, choice);
    std::vector<Distribution> grids = enumerate::paper_distributions(space.ranks, choice);
    if (choice.replication) enumerate::check_replication(*choice.replication, space.ranks);
    if (grids.empty()) throw Error(ErrorCode::usage, "the paper space has no grids that split z", "`grid`");
    return grids;
}

}  // namespace

Space make_space(const Problem& problem, const Machine& machine, const SelectOptions& options) {
    validate(machine);
    Space space;
    space.model = sites_of(problem.ops);
    space.widths = widths_of(space.model);
    ensure(problem.graph != nullptr, "select needs graph statistics");
    space.graph = problem.graph;
    space.record = problem.record.graph;
    space.listing = problem.listing;
    space.ranks = problem.record.ranks;
    space.options = options;
    check_ranks(space.ranks);
    check_inference(space, problem.record.run);
    check_paper_model(space);
    check_total_size(space);
    check_pinned(options.forward, space.depth(), "`forward`");
    check_pinned(options.backward, space.depth(), "`backward`");
    check_letters(options);
    check_only_orders(space);
    ensure(problem.record.graph.edge_weights == problem.graph->weighted(), "the record says what the graph has");
    check_weighted(space);
    check_used(space, problem.record.run);
    if (options.candidates < 1 || options.candidates > max_candidates) {
        throw Error(ErrorCode::usage, "a plan holds 1.." + std::to_string(max_candidates) + " candidates",
                    "candidates");
    }
    if (options.exchange == Exchange::none) {
        throw Error(ErrorCode::usage, "panels or rows are exchanged, wherever there are any", "`exchange`");
    }
    if (options.memory_per_rank < 0) throw Error(ErrorCode::usage, "memory must not be negative", "`memory`");
    check_buffer(options);
    if (!space.options.drops_features) space.options.drops_features = problem.record.run.drops_features();
    if (space.options.constant_input && space.options.drops_features.value_or(false)) {
        throw Error(ErrorCode::usage, "dropout changes the features in every epoch, so they are not constant",
                    "`constant-input`", "`input-dropout 0` turns dropout on the features off");
    }
    if (problem.record.loading == Loading::sharded) keep_to_shares(space);
    space.memory_per_rank = options.memory_per_rank > 0 ? options.memory_per_rank : machine.usable_memory();
    space.memory = machine.tensor_memory();
    space.grids = grids_of(space);
    refuse_grids(space);
    space.shape.vertices = problem.graph->vertices();
    space.shape.symmetric = one_copy_serves(problem.graph->symmetric(), problem.record.graph.normalisation);
    space.shape.nonzeros = problem.graph->nonzeros();
    space.shape.cache_bytes = cost::gathered_cache_bytes(machine);
    space.shape.symmetric_pattern = problem.graph->symmetric();
    space.shape.loss_rows = problem.graph->loss_rows(space.model.depth);
    space.shape.seed = problem.record.graph.seed;
    space.shape.optimiser = problem.record.run.optimiser;
    space.shape.blocking = machine.blocking;
    space.shape.loading = problem.record.loading;
    take_drawn(space, problem.record.fanout);
    check_ring(space);
    space.drops_attention = problem.record.run.attention_dropout > 0;
    return space;
}

bool Space::needs_whole_neighbourhoods() const {
    return std::any_of(model.sites.begin(), model.sites.end(), [](const Site& site) { return !site.reorderable(); });
}

bool Space::weighs_by(Reduce reduce) const {
    return std::any_of(model.products.begin(), model.products.end(),
                       [&](int product) { return model.at(product).reduce == reduce; });
}

void say_searching(const Space& space, const Distribution& on, std::size_t n, std::size_t grids) {
    if (!space.options.progress) return;
    space.options.progress("searching: " + scheme_of(on) + " on " + on.grid.text() + ", " + std::to_string(n) + " of " +
                           std::to_string(grids) + " grids");
}

const GraphStats& NumberedGraphs::numbered(const Numbering& numbering) {
    if (numbering.identity()) return graph_;
    for (const auto& [known, view] : graphs_) {
        if (known == numbering) return *view;
    }
    graphs_.emplace_back(numbering, graph_.numbered(numbering));
    return *graphs_.back().second;
}

namespace {

Prediction as_runs_will(const Space& space, const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                        Prediction predicted) {
    if (!space.options.drops_features.value_or(true)) leave_out_feature_dropout(schedule, predicted);
    if (!space.model.trains())
        predicted.loading = cost::loading_seconds(schedule, graph, space.record, space.listing, machine);
    if (space.drops_attention) cost::add_attention_dropout(schedule, graph, machine, predicted);
    return predicted;
}

}  // namespace

Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                   std::int64_t peak_bytes) {
    return as_runs_will(space, schedule, graph, machine, cost::predict(schedule, graph, machine, peak_bytes));
}

Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, SharedCosts& costs,
                   std::int64_t peak_bytes) {
    std::vector<double> seconds = costs.of(schedule, graph).seconds(schedule);
    return as_runs_will(space, schedule, graph, costs.machine(),
                        cost::predict(schedule, graph, std::move(seconds), peak_bytes));
}

Lowered lowered(const Space& space, const Configuration& configuration, NumberedGraphs& graphs) {
    Lowered made{lower::lower(space.model, configuration, space.shape)};
    const std::int64_t bytes = space.options.buffer_bytes;
    if (bytes > 0)
        made.needed_buffer =
            lower::bound_buffers(made.schedule, graphs.numbered(made.schedule.numbering), bytes, graphs.cuts);
    return made;
}

std::optional<Candidate> cost_if_bounded(const Space& space, const Configuration& configuration, const Machine& machine,
                                         NumberedGraphs& graphs) {
    Lowered made = lowered(space, configuration, graphs);
    if (!made.fits()) return std::nullopt;
    Candidate candidate;
    candidate.configuration = configuration;
    candidate.schedule = std::move(made.schedule);
    const GraphStats& graph = graphs.numbered(candidate.schedule.numbering);
    candidate.predicted = predict(space, candidate.schedule, graph, machine,
                                  peak_bytes_per_rank(candidate.schedule, graph, machine.tensor_memory()));
    return candidate;
}

Candidate cost_configuration(const Space& space, const Configuration& configuration, const Machine& machine,
                             NumberedGraphs& graphs) {
    std::optional<Candidate> costed = cost_if_bounded(space, configuration, machine, graphs);
    ensure(costed.has_value(), "a configuration that is costed keeps to the bound on buffers");
    return *std::move(costed);
}

}  // namespace gnnplan::search
