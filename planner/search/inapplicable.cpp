#include "planner/search/inapplicable.hpp"

#include <algorithm>
#include <string>

namespace gnnplan::search {
namespace {

constexpr auto not_applicable = Rejection::Reason::not_applicable;

// The operation of a layer that needs all neighbours of a vertex.
std::string whole_neighbourhood(const Space& space) { return space.weighs_edges() ? "a softmax" : "a maximum"; }

void add_schemes(const Space& space, std::vector<Rejection>& rejected) {
    const auto on = [&](const std::string& scheme) {
        return std::any_of(space.grids.begin(), space.grids.end(),
                           [&](const Distribution& g) { return scheme_of(g) == scheme; });
    };
    const bool pinned = space.options.scheme || space.options.replication || space.options.grid;
    for (const std::string& scheme : scheme_names()) {
        const auto refused = std::count_if(space.refused.begin(), space.refused.end(),
                                           [&](const Distribution& grid) { return scheme_of(grid) == scheme; });
        if (refused > 0) {
            rejected.push_back(
                {scheme, not_applicable,
                 "not applicable: " + whole_neighbourhood(space) + " is no sum, and these grids split neighbourhoods",
                 refused});
        }
        if (pinned || refused > 0 || on(scheme)) continue;
        if (scheme == "cut" && !space.searches_cuts) {
            if (!space.no_cut.empty())
                rejected.push_back({scheme, not_applicable, "not applicable: " + space.no_cut, 0});
            continue;
        }
        if (space.grids.front().grid.grouped()) {
            rejected.push_back({scheme, not_applicable,
                                space.batches ? "not applicable: ranks share what updates draw as RDM does"
                                              : "not applicable: groups of ranks are asked for",
                                0});
            continue;
        }
        rejected.push_back({scheme, not_applicable,
                            "not applicable: " + std::to_string(space.ranks) +
                                (space.ranks == 1 ? " rank forms" : " ranks form") + " no such grid",
                            0});
    }
}

// Orders of products that have one.
void add_orders(const Space& space, std::vector<Rejection>& rejected) {
    const auto add = [&](const char* what, const char* why) {
        rejected.push_back({what, not_applicable, std::string("not applicable: ") + why, 0});
    };
    if (space.model.reduces_by(Reduce::attention)) {
        add("forward S, backward D", "attention compares what the weights have made, so they come first");
    } else if (space.model.reduces_by(Reduce::cosine)) {
        add("forward D, backward S", "layers that weigh by cosines have no linear map to begin with");
    } else if (space.model.needs_whole_neighbourhoods()) {
        add("forward D, backward S", "a maximum is no sum, so aggregation comes before the weights");
    }
}

}  // namespace

void add_inapplicable(const Space& space, std::vector<Rejection>& rejected) {
    add_schemes(space, rejected);
    add_orders(space, rejected);
    for (const enumerate::LeftOut& left : enumerate::left_out(asked(space), space.grids)) {
        const auto reason = left.dominated ? Rejection::Reason::dominated : not_applicable;
        rejected.push_back(
            {left.what, reason, (left.dominated ? "dominated: " : "not applicable: ") + left.why, left.grids});
    }
}

}  // namespace gnnplan::search
