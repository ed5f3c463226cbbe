// Messages of each collective, from the block boundaries; nothing here is a rounded formula.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// `count` messages from one rank to another, `bytes` in all. Messages to oneself and empty ones do not exist.
struct Message {
    int from = 0;
    int to = 0;
    std::int64_t bytes = 0;
    std::int64_t count = 1;
};

struct RankTraffic {
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    bool operator==(const RankTraffic&) const = default;
};

// Every message of a step. Conventions: a redistribution is pairwise, one message for each pair of ranks of a y-group
// whose blocks intersect; a panel broadcast is flat, root to each other rank of the x-group; an all-reduce is a ring
// (reduce-scatter, then all-gather, over balanced blocks of elements).
std::vector<Message> messages_of(const Schedule& schedule, const Step& step);

// Bytes sent and received by each rank in a step: messages_of, added up.
std::vector<RankTraffic> traffic_of(const Schedule& schedule, const Step& step);

// Adds up a phase. total_bytes: bytes that leave a rank for another one. max_rank_bytes: the busiest rank's, the larger
// of its sent and its received bytes, each summed over the phase.
struct TrafficTotal {
    std::int64_t total_bytes = 0;
    std::int64_t max_rank_bytes = 0;
};
TrafficTotal total_traffic(const Schedule& schedule, Phase phase);

}  // namespace gnnplan
