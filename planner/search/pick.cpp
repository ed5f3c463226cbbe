#include "planner/search/pick.hpp"

#include "planner/search/candidates.hpp"
#include "planner/search/inapplicable.hpp"
#include "planner/search/paper_space.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace gnnplan::search {
namespace {

// Above this many ranks times layers sharded grids are searched only when something is over memory.
constexpr std::size_t max_sharded_unasked = 200;

// The fastest members once more, with factored values, where those take less memory.
void add_factored(const Space& space, const Machine& machine, NumberedGraphs& graphs, SearchResult& found) {
    constexpr std::size_t most = 3;
    const std::size_t count = std::min(most, found.costed.size());
    for (std::size_t i = 0; i < count; ++i) {
        const RankedConfiguration& stored = found.costed[i].ranked;
        Configuration configuration = stored.configuration;
        configuration.factored_values = true;
        const std::int64_t peak = stored.predicted.peak_bytes_per_rank;
        std::optional<Candidate> candidate = cost_if_bounded(space, configuration, machine, graphs);
        if (!candidate) continue;
        EvaluatedCandidate costed = costed_of(space, *std::move(candidate));
        if (costed.ranked.predicted.peak_bytes_per_rank < peak) found.costed.push_back(std::move(costed));
    }
}

[[noreturn]] void refuse_buffer(const Space& space, std::int64_t needed) {
    throw Error(ErrorCode::usage,
                "no configuration keeps what others send to a product within " +
                    std::to_string(space.options.buffer_bytes) +
                    " bytes a rank: blocks cannot be cut into pieces that are small enough",
                "`buffer`", std::to_string(needed) + " bytes are enough");
}

// Says where no configuration fits that lets features vary.
void reject_dropout(const Space& space, SearchResult& found) {
    const bool some_vary = std::any_of(found.costed.begin(), found.costed.end(), [](const EvaluatedCandidate& costed) {
        return costed.ranked.fits && !costed.ranked.configuration.constant_input;
    });
    if (some_vary || space.options.constant_input) return;
    found.rejected.push_back({"dropout on features", Rejection::Reason::over_memory,
                              "over memory: no configuration that allows it fits", 0});
}

}  // namespace

SearchResult search_full_space(const Space& space, const Machine& machine, NumberedGraphs& graphs) {
    const auto walk = [&](const Space& of, const std::vector<Distribution>& grids, const std::vector<bool>& factored) {
        return walk_members(of, machine, graphs, rank_members(of, grids, machine, graphs, factored));
    };
    const bool pinned = space.options.scheme || space.options.grid;
    std::vector<Distribution> grids = space.grids;
    std::int64_t left_out = 0;
    if (!pinned && static_cast<std::size_t>(space.ranks) * space.depth() > max_sharded_unasked) {
        left_out =
            static_cast<std::int64_t>(std::erase_if(grids, [](const Distribution& g) { return g.sends_nonzeros(); }));
    }
    // Factored values are slower: without need they are shown for the fastest only, as what memory could be saved.
    const std::optional<bool> factored = enumerate::only_values(asked(space));
    SearchResult found = walk(space, grids, {factored.value_or(false)});
    const bool something_over = std::any_of(found.rejected.begin(), found.rejected.end(), [](const Rejection& r) {
        return r.reason == Rejection::Reason::over_memory;
    });
    if (something_over && (left_out > 0 || !factored || found.fastest_is_over)) {
        Space wider = space;
        wider.buys_memory = found.fastest_is_over;
        found = walk(wider, space.grids, factored ? std::vector{*factored} : std::vector{false, true});
    } else {
        if (!factored) add_factored(space, machine, graphs, found);
        if (left_out > 0) {
            found.rejected.push_back({"2d, 3d", Rejection::Reason::dominated,
                                      "dominated: on the same grid rdm moves the same dense bytes and no nonzeros, and "
                                      "it fits (grids not searched)",
                                      left_out});
        }
    }
    if (found.costed.empty()) refuse_buffer(space, found.needed_buffer);
    add_inapplicable(space, found.rejected);
    reject_dropout(space, found);
    std::stable_sort(found.costed.begin(), found.costed.end(), ranks_before);
    mark_front(found.costed, space.options.pareto);
    return found;
}

SearchResult search_paper_space(const Space& space, const Machine& machine, NumberedGraphs& graphs) {
    SearchResult found;
    found.costed = cost_paper_space(space, machine, graphs);
    ensure(!found.costed.empty(), "the search listed no configuration");
    std::stable_sort(found.costed.begin(), found.costed.end(), ranks_before);
    const auto over = std::count_if(found.costed.begin(), found.costed.end(),
                                    [](const EvaluatedCandidate& costed) { return !costed.ranked.fits; });
    if (over > 0)
        found.rejected.push_back(
            {"rdm", Rejection::Reason::over_memory, "over memory: a rank needs more than it is allowed", over});
    return found;
}

}  // namespace gnnplan::search
