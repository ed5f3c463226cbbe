// Pieces cut so small that the buffers of what others send stay below a bound.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace gnnplan::lower {

// Cuts that were found, for those who lower many schedules that differ in other things. Graphs outlive the object.
class KnownCuts {
public:
    struct Cut {
        int splits = 1;
        std::int64_t piece_bytes = 0;  // of the largest piece
    };
    // `find` where nothing is known under the key, which says all that a cut depends on.
    template <class Find>
    Cut cut(const std::vector<std::int64_t>& key, const Find& find) {
        const auto known = cuts_.find(key);
        return known != cuts_.end() ? known->second : cuts_.emplace(key, find()).first->second;
    }

private:
    std::map<std::vector<std::int64_t>, Cut> cuts_;
};

// Cuts the pieces of each adjacency of a lowered schedule into as few splits as are enough for every product with it to
// have SpmmBuffers::exchange_bytes() of at most `bytes` on every rank. Where products overlap their transfers, at least
// one piece is on its way while another is multiplied, and as many more as fit. `graph` answers in the schedule's
// numbering; where it estimates, the buffers of needed rows and of nonzeros that are sent are estimates too.
//
// Returns 0, or, where no number of splits is enough, a number of bytes that would be enough with the largest number of
// splits; then the schedule is of no use.
std::int64_t bound_buffers(Schedule& schedule, const GraphStats& graph, std::int64_t bytes, KnownCuts& known);
inline std::int64_t bound_buffers(Schedule& schedule, const GraphStats& graph, std::int64_t bytes) {
    KnownCuts nothing;
    return bound_buffers(schedule, graph, bytes, nothing);
}

}  // namespace gnnplan::lower
