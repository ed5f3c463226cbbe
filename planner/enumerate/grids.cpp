#include "planner/enumerate/grids.hpp"

#include "planner/enumerate/replication.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace gnnplan::enumerate {
namespace {

std::vector<Grid> grids_of(int ranks) {
    std::vector<Grid> grids;
    for (const int x : replications(ranks)) {
        for (const int y : replications(ranks / x)) grids.push_back({x, y, ranks / x / y});
    }
    return grids;
}

// The ways to share nonzeros on a grid that differ from each other.
std::vector<Sharing> sharings_on(const Grid& grid, bool cuts) {
    std::vector<Sharing> sharings{Sharing::replicated};
    if (grid.y > 1 && grid.z == 1) sharings.push_back(Sharing::block_distributed);
    if (grid.y > 1) sharings.push_back(Sharing::sharded);
    if (cuts && grid.x > 1 && grid.z == 1) sharings.push_back(Sharing::cut);
    return sharings;
}

void check_scheme(const std::string& scheme) {
    const auto& known = scheme_names();
    if (std::find(known.begin(), known.end(), scheme) != known.end()) return;
    throw Error(ErrorCode::usage, "there is no scheme '" + scheme + "'", "`scheme`",
                "schemes are rdm, 1d, 1.5d, 2d, 3d, cut");
}

[[noreturn]] void refuse(int ranks, const GridChoice& choice) {
    std::string asked;
    if (choice.scheme) asked += " of scheme " + *choice.scheme;
    if (choice.replication) asked += " with replication " + std::to_string(*choice.replication);
    if (choice.grid) asked += " " + choice.grid->text();
    std::set<std::string> texts;
    for (const Grid& grid : grids_of(ranks)) {
        if (!choice.scheme || distribution_of(*choice.scheme, grid)) texts.insert(grid.text());
    }
    std::string possible;
    for (const std::string& text : texts) possible += (possible.empty() ? "" : ", ") + text;
    throw Error(ErrorCode::usage, std::to_string(ranks) + " ranks form no grid" + asked, "`grid`",
                possible.empty() ? "use more ranks, or another scheme" : "possible: " + possible);
}

}  // namespace

std::vector<Distribution> distributions(int ranks, const GridChoice& choice) {
    if (choice.scheme) check_scheme(*choice.scheme);
    if (choice.replication && !choice.scheme) check_replication(*choice.replication, ranks);
    const std::optional<std::string> scheme = choice.replication && !choice.scheme ? "rdm" : choice.scheme;
    std::vector<Distribution> found;
    for (const Grid& grid : grids_of(ranks)) {
        if (choice.grid && grid != *choice.grid) continue;
        if (!scheme) {
            for (const Sharing sharing : sharings_on(grid, choice.cuts)) found.push_back({sharing, grid});
            continue;
        }
        if (choice.replication && replication_of(*scheme, grid) != *choice.replication) continue;
        if (const auto on = distribution_of(*scheme, grid)) found.push_back(*on);
    }
    if (found.empty()) refuse(ranks, choice);
    // A scheme that is named has no grids of simpler schemes, unless the grid or the replication is asked for.
    std::vector<Distribution> itself;
    std::copy_if(found.begin(), found.end(), std::back_inserter(itself),
                 [&](const Distribution& on) { return !scheme || scheme_of(on) == *scheme; });
    const bool asked_for = choice.grid || choice.replication;
    return asked_for || itself.empty() ? found : itself;
}

std::vector<Distribution> paper_distributions(int ranks, const GridChoice& choice) {
    std::vector<Distribution> found;
    for (const int copies : replications(ranks)) {
        const Grid grid{ranks / copies, copies, 1};
        if (choice.replication.value_or(copies) != copies || choice.grid.value_or(grid) != grid) continue;
        found.push_back({Sharing::replicated, grid});
    }
    return found;
}

}  // namespace gnnplan::enumerate
