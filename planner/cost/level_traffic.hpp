// The traffic of ranks in a step, by the level of links that it goes over.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace gnnplan::cost {

struct CostedRanks;

// The traffic of one rank over one level of links.
struct LevelTraffic {
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    std::int64_t sent_messages = 0;
    std::int64_t received_messages = 0;

    // Messages of the average size, one after the other.
    double seconds(const Link& link) const;
};

enum Level : std::size_t { within_node, between_nodes };
using RankLevels = std::array<LevelTraffic, 2>;

// The traffic of `rank` in a step. Peers are looked at one of each kind where some are alike, and not at all where it
// is known what the ranks request of each other.
RankLevels traffic_by_level(const Schedule& schedule, const Operation& operation, const StepMessages& messages,
                            const Machine& machine, const CostedRanks& on, int rank);

// The request for needed rows of a matrix, where all that the step exchanges are these rows, or the requests for them:
// then what it exchanges follows from the requests, and how wide rows are. None else, nor where nonzeros travel as
// well, or rows are dealt.
std::optional<RowRequestStep> exchanged_by_need(const Schedule& schedule, const Operation& operation);

// The requests of each rank, 4 bytes a row, if it asked whoever sends it a row of a matrix.
std::vector<RankLevels> requests_by_level(const Schedule& schedule, const RowRequestStep& request,
                                          const GraphStats& graph, const Machine& machine);

}  // namespace gnnplan::cost
