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

// The schemes that a grid belongs to when none is asked for. Where y = z = 1 all of them are one: 1D.
std::vector<std::string> schemes_of(const Grid& grid) {
    if (grid.size() == 1) return {"rdm"};
    if (grid.y == 1 && grid.z == 1) return {"1d"};
    if (grid.y == 1) return {"1.5d"};
    if (grid.z == 1) return {"rdm", "1.5d", "2d"};
    return {"rdm", "3d"};
}

bool belongs(const Grid& grid, const std::string& scheme) {
    try {
        replication_of(scheme, grid);
    } catch (const Error&) {
        return false;
    }
    return true;
}

void check_scheme(const std::string& scheme) {
    const auto& known = scheme_names();
    if (std::find(known.begin(), known.end(), scheme) != known.end()) return;
    throw Error(ErrorCode::usage, "there is no scheme '" + scheme + "'", "scheme", "schemes are rdm, 1d, 1.5d, 2d, 3d");
}

// Whether the scheme is itself on this grid, and not another one that it contains.
bool genuine(const SchemeGrid& entry) {
    const Grid& grid = entry.grid;
    if (entry.scheme == "rdm" || entry.scheme == "2d") return grid.y > 1;
    if (entry.scheme == "1.5d") return grid.y * grid.z > 1;
    if (entry.scheme == "3d") return grid.y > 1 && grid.z > 1;
    return true;
}

[[noreturn]] void refuse(int ranks, const GridChoice& choice) {
    std::string asked;
    if (choice.scheme) asked += " of scheme " + *choice.scheme;
    if (choice.replication) asked += " with replication " + std::to_string(*choice.replication);
    if (choice.grid) asked += " " + choice.grid->text();
    std::set<std::string> texts;
    for (const SchemeGrid& entry : scheme_grids(ranks, {choice.scheme, std::nullopt, std::nullopt})) {
        texts.insert(entry.grid.text());
    }
    std::string possible;
    for (const std::string& text : texts) possible += (possible.empty() ? "" : ", ") + text;
    throw Error(ErrorCode::usage, std::to_string(ranks) + " ranks form no grid" + asked, "grid",
                "possible: " + possible);
}

}  // namespace

std::vector<SchemeGrid> scheme_grids(int ranks, const GridChoice& choice) {
    if (choice.scheme) check_scheme(*choice.scheme);
    if (choice.replication && !choice.scheme) check_replication(*choice.replication, ranks);
    std::vector<SchemeGrid> found;
    for (const Grid& grid : grids_of(ranks)) {
        if (choice.grid && grid != *choice.grid) continue;
        std::vector<std::string> schemes = schemes_of(grid);
        if (choice.scheme) schemes = {*choice.scheme};
        if (choice.replication && !choice.scheme) schemes = {"rdm"};
        for (const std::string& scheme : schemes) {
            if (!belongs(grid, scheme)) continue;
            if (choice.replication && replication_of(scheme, grid) != *choice.replication) continue;
            found.push_back({scheme, grid});
        }
    }
    if (found.empty()) refuse(ranks, choice);
    std::vector<SchemeGrid> itself;
    std::copy_if(found.begin(), found.end(), std::back_inserter(itself), genuine);
    const bool asked_for = choice.grid || choice.replication;
    return asked_for || itself.empty() ? found : itself;
}

}  // namespace gnnplan::enumerate
