#include "planner/search/space.hpp"

#include "planner/cost/cache.hpp"
#include "planner/enumerate/grids.hpp"
#include "planner/enumerate/replication.hpp"
#include "planner/lower/rules.hpp"
#include "planner/search/check_options.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/group_grids.hpp"

#include <gnnplan/ir/applicable.hpp>

#include <algorithm>

namespace gnnplan::search {
namespace {

// An inference reads its features once.
void resolve_input(SelectOptions& options, bool trains, const RunRecord& run) {
    if (!trains) {
        options.drops_features = false;
        options.constant_input = true;
        return;
    }
    if (!options.drops_features) options.drops_features = run.drops_features();
    if (options.constant_input && options.drops_features.value_or(false)) {
        throw Error(ErrorCode::usage, "dropout changes the features in every epoch, so they are not constant",
                    "`constant-input`", "`input-dropout 0` turns dropout on the features off");
    }
}

// Moves the grids that no configuration of the model can be on, as its switches are pinned, to those that are refused.
void refuse_grids(Space& space) {
    const AttentionScores attention = space.options.attention.value_or(AttentionScores::recompute);
    const auto first = std::stable_partition(space.grids.begin(), space.grids.end(), [&](const Distribution& on) {
        return !why_not_on(space.model, on, attention);
    });
    space.refused.assign(first, space.grids.end());
    space.grids.erase(first, space.grids.end());
    if (!space.grids.empty()) return;
    const char* const flag = space.options.scheme && !space.options.grid ? "`scheme`" : "`grid`";
    const bool stores = attention == AttentionScores::stored;
    if (stores || space.model.reduces_by(Reduce::cosine))
        throw Error(ErrorCode::usage,
                    space.model.model + (stores ? " stores scores of edges" : " keeps values of edges") +
                        ", so a rank must have all edges of its vertices",
                    flag, "grids of the schemes rdm and 1d with z = 1 can");
    throw Error(
        ErrorCode::usage,
        space.model.model + " needs a vertex's neighbours together, for a maximum or a softmax, which are no sums",
        flag, "grids of the schemes rdm, 1d and 2d with z = 1 can");
}

bool any_product_rings(const SiteGraph& model, const Configuration& configuration) {
    return lower::Rules(model, configuration).any_rings();
}

// A ring that is asked for, where no grid or no product of the model can have one.
void check_ring(const Space& space) {
    if (!space.options.ring.value_or(false)) return;
    const enumerate::Asked question = asked(space);
    const bool found = std::any_of(space.grids.begin(), space.grids.end(), [&](const Distribution& on) {
        if (why_no_ring(space.model, on)) return false;
        const std::vector<Choices> regular = regular_choices(space, on);
        return std::any_of(regular.begin(), regular.end(), [&](const Choices& choices) {
            ConfigurationFrame frame{on, {.ring = true}, false};
            return any_product_rings(space.model, configuration_of(frame, choices));
        });
    });
    enumerate::check_ring(question, space.grids, found);
}

// How the graph cuts is counted, or known for some number of parts that the grid may have.
bool knows_cuts(const Space& space) {
    const std::vector<int> parts = enumerate::replications(space.ranks);
    return space.graph->exact() ||
           std::ranges::any_of(parts, [&](int x) { return space.graph->replication(x).has_value(); });
}

// Whether cutting a graph takes seconds, so that it is done only where it is asked for: all edges are dealt once, and
// looked through for each part.
bool takes_long_to_cut(const GraphStats& graph, int ranks) {
    constexpr std::int64_t most_edges = 5'000'000, parts_of_most = 64;
    return graph.exact() &&
           graph.nonzeros() > most_edges * parts_of_most / std::max<std::int64_t>(ranks, parts_of_most);
}

// Finds out whether edges may be dealt by a vertex cut to ranks that multiply together.
void resolve_cut(Space& space) {
    if (space.options.clones || space.batches) return;
    const bool pinned = enumerate::asks_for_cut(space.options);
    enumerate::Asked question = asked(space);
    question.cuts_are_known = knows_cuts(space);
    std::optional<std::string> why = enumerate::why_no_cut(question);
    if (space.ranks == 1) why = "one rank has all edges";
    if (!pinned && space.options.scheme != "cut") {
        const bool long_time = takes_long_to_cut(*space.graph, space.ranks);
        space.searches_cuts = space.graph->exact() && !why && !long_time && space.options.extras;
        if (space.graph->exact())
            space.no_cut =
                why.value_or(long_time ? "so many edges, or parts, are cut where it is asked for (`scheme`)" : "");
        return;
    }
    const char* const flag = pinned ? "`cut`" : "`scheme`";
    if (space.options.scheme.value_or("cut") != "cut")
        throw Error(ErrorCode::usage, "a rule of cuts is no part of scheme " + *space.options.scheme, flag,
                    "leave one of the two out");
    if (why) throw Error(ErrorCode::usage, "edges cannot be dealt to ranks by a vertex cut: " + *why, flag);
    if (space.options.space == SearchSpace::paper)
        throw Error(ErrorCode::usage, "the paper space has no vertex cuts", flag, "`space full` has");
    space.options.scheme = "cut";
}

// The paper space is RDM's; other published schemes are found in it by name.
std::vector<Distribution> grids_of(const Space& space) {
    enumerate::GridChoice choice{space.options.scheme, space.options.replication, space.options.grid};
    choice.cuts = space.searches_cuts;
    const bool paper = space.options.space == SearchSpace::paper;
    if (paper && !choice.scheme) choice.scheme = "rdm";
    const bool rdm = paper && choice.scheme == "rdm";
    if (!rdm) {
        std::vector<Distribution> grids = enumerate::distributions(space.ranks, choice);
        std::erase_if(grids, [&](const Distribution& on) {
            return on.sharing == Sharing::cut && !space.graph->exact() && !space.graph->replication(on.grid.x);
        });
        if (grids.empty())
            throw Error(ErrorCode::usage, "nobody knows how this graph cuts into so many parts", "`grid`",
                        "`replication-factor` says what if");
        return grids;
    }
    std::vector<Distribution> grids = enumerate::paper_distributions(space.ranks, choice);
    if (choice.replication) enumerate::check_replication(*choice.replication, space.ranks);
    if (grids.empty()) throw Error(ErrorCode::usage, "the paper space has no grids that split z", "`grid`");
    return grids;
}

// The graph as lowering takes it.
lower::GraphShape shape_of(const Space& space, const ProblemRecord& record, const Machine& machine) {
    const GraphStats& graph = *space.graph;
    lower::GraphShape shape;
    shape.vertices = graph.vertices();
    const bool symmetric = multiplies_symmetric(graph.symmetric(), record.batches);
    shape.symmetric = one_copy_serves(symmetric, record.graph.normalisation);
    shape.nonzeros = graph.nonzeros();
    shape.cache_bytes = cost::gathered_cache_bytes(machine);
    shape.symmetric_pattern = symmetric;
    shape.loss_rows = graph.loss_rows(space.model.hops());
    shape.seed = record.graph.seed;
    shape.optimiser = record.run.optimiser;
    shape.blocking = machine.blocking;
    shape.ranks_per_node = machine.ranks_per_node;
    shape.loading = record.loading;
    shape.batches = record.batches;
    for (int layer = 1; !record.fanout.empty() && layer <= graph.samples(); ++layer) shape.samples.push_back(layer);
    return shape;
}

}  // namespace

Space make_space(const Problem& problem, const Machine& machine, const SelectOptions& options) {
    validate(machine);
    Space space;
    space.model = sites_of(problem.ops);
    space.widths = widths_of(space.model);
    ensure(problem.graph != nullptr, "select needs graph statistics");
    space.graph = problem.graph;
    ensure(problem.record.graph.edge_weights == problem.graph->weighted(), "the record says what the graph has");
    space.record = problem.record.graph;
    space.listing = problem.listing;
    space.ranks = problem.record.ranks;
    space.several_nodes = machine.ranks_per_node > 1 && space.ranks > machine.ranks_per_node;
    space.options = options;
    space.draws = !problem.record.fanout.empty();
    space.batches = problem.record.batches;
    space.in_shares = problem.record.loading == Loading::sharded;
    space.drops_attention = problem.record.run.attention_dropout > 0;
    space.epochs = problem.record.run.epochs;
    check_options(space, problem.record);
    resolve_input(space.options, space.model.trains(), problem.record.run);
    if (!space.options.extras) {
        space.options.pin_as_published(space.model.trains());
        space.options.drops_features = space.options.drops_features.value_or(false);
    }
    space.memory_per_rank = options.memory_per_rank > 0 ? options.memory_per_rank : machine.usable_memory();
    space.memory = machine.tensor_memory();
    resolve_cut(space);
    space.grids = space.options.clones ? grid_of_groups(space)
                  : space.batches      ? grids_of_batches(space)
                                       : grids_of(space);
    refuse_grids(space);
    space.shape = shape_of(space, problem.record, machine);
    check_ring(space);
    return space;
}

enumerate::Asked asked(const Space& space) {
    const std::vector<std::int64_t>& rows = space.shape.loss_rows;
    enumerate::Asked question{space.model, space.options};
    question.rings = any_product_rings;
    question.ranks_per_node = space.shape.ranks_per_node;
    question.counted = space.graph->exact();
    question.edge_weights = space.graph->weighted();
    question.draws = space.draws;
    question.batches = space.batches.has_value();
    question.batch_weights = space.batches && space.batches->sampling.coefficients;
    question.drawn_weighted = space.draws && space.graph->samples_weighted();
    question.in_shares = space.in_shares;
    const int all_rows = space.model.hops_through(space.model.last_over_rows());  // which these hops compute
    question.saves_rows = !rows.empty() && std::any_of(rows.begin() + 1 + all_rows, rows.end(),
                                                       [&](auto n) { return n < space.shape.vertices; });
    question.layer_by_layer = is_deep(space.model);
    question.drops_attention = space.drops_attention;
    question.several_nodes = space.several_nodes;
    question.buys_memory = space.buys_memory;
    return question;
}

void say_searching(const Space& space, const Distribution& on, std::size_t n, std::size_t grids) {
    if (!space.options.progress) return;
    space.options.progress("searching: " + scheme_of(on) + " on " + on.grid.text() + ", " + std::to_string(n) + " of " +
                           std::to_string(grids) + " grids");
}

}  // namespace gnnplan::search
