#include "planner/search/group_grids.hpp"

#include <gnnplan/ir/applicable.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace gnnplan::search {

std::vector<Distribution> grid_of_groups(const Space& space) {
    const auto refuse = [](const std::string& why, const char* flag, const char* hint) {
        throw Error(ErrorCode::usage, "groups cannot train on clones of vertices: " + why, flag, hint);
    };
    const SelectOptions& options = space.options;
    Grid grid = options.grid.value_or(Grid{space.ranks, 1, 1});
    if (options.space == SearchSpace::paper) refuse("the paper space has no groups", "`inexact`", "`space full` has");
    if (options.scheme || options.replication)
        refuse("in a group there is RDM alone", options.scheme ? "`scheme`" : "`replication`",
               "leave it out, and say with `grid` how many groups");
    if (space.model.last_over_rows() > 0)
        refuse("batch norms keep statistics of all vertices", "`norm`", "say `norm layer`");
    if (space.ranks == 1) refuse("one rank is one group, which has all edges", "`inexact`", "say `ranks 2` or more");
    if (grid.size() != space.ranks || grid.x < 2 || grid.z > 1)
        refuse(std::to_string(space.ranks) + " ranks form no grid " + grid.text() + " of several groups", "`grid`",
               "4x2 is four groups of two ranks");
    const Distribution parts_of_sums{Sharing::cut, grid};
    const std::optional<std::string_view> no_sums = why_not_on(space.model, parts_of_sums, AttentionScores::recompute);
    if (options.delay && no_sums) refuse(std::string(*no_sums), "`inexact`", "`inexact 0c` works with every model");
    const bool once = std::ranges::all_of(space.model.products, [&](int product) {
        return space.model.at(product).maps() && !space.model.at(product).propagates();
    });
    if (options.delay.value_or(0) > 0 && !once)
        refuse("late sums are of layers that aggregate once, beside a linear map", "`inexact`",
               "`inexact cd:0` has them in time, and 0c has none");
    const Orders sparse_first(space.depth(), Order::sparse_first);
    if (options.delay.value_or(0) > 0 && options.forward.value_or(sparse_first) != sparse_first)
        refuse("late sums are of what layers read", "`forward`", "leave it out: the sparse matrix comes first");
    enumerate::Asked question = asked(space);
    question.cuts_are_known = space.graph->exact() || space.graph->replication(grid.x).has_value();
    if (const auto why = enumerate::why_no_cut(question)) refuse(*why, "`inexact`", "");
    grid.groups = space.graph->numbered(enumerate::numbering_of_groups(options, grid.x, space.record.seed))->groups();
    return {{Sharing::replicated, grid}};
}

std::vector<Distribution> grids_of_batches(const Space& space) {
    const Batches& batches = *space.batches;
    const SelectOptions& options = space.options;
    const int per_update = batches.per_update;
    std::vector<Distribution> grids;
    for (int groups = 1; groups <= std::min(per_update, space.ranks); ++groups) {
        if (space.ranks % groups != 0 || per_update % groups != 0) continue;
        Grid grid{groups, space.ranks / groups, 1};
        if (options.grid && *options.grid != grid) continue;
        grid.groups = space.graph->numbered(enumerate::numbering_of_batches(batches, groups))->groups();
        grids.push_back({Sharing::replicated, std::move(grid)});
    }
    if (grids.empty() && !batches.sampling.has_pool())
        throw Error(ErrorCode::usage, "all ranks share the neighbours that an epoch draws", "`grid`",
                    "leave it out: there is 1x" + std::to_string(space.ranks) + " alone");
    if (grids.empty())
        throw Error(ErrorCode::usage,
                    "a grid of " + options.grid->text() + " does not deal " + std::to_string(per_update) +
                        " batches to " + std::to_string(space.ranks) + " ranks",
                    "`grid`", "gxk is g groups of k ranks: g divides the batches of an update, and g k are the ranks");
    return grids;
}

}  // namespace gnnplan::search
