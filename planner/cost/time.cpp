#include "planner/cost/time.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace gnnplan::cost {
namespace {

// What one rank moves over one level of links.
struct LevelTraffic {
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    std::int64_t sent_messages = 0;
    std::int64_t received_messages = 0;

    double seconds(const Link& link) const {
        const auto messages = static_cast<double>(std::max(sent_messages, received_messages));
        const auto bytes = static_cast<double>(std::max(sent_bytes, received_bytes));
        return messages * link.latency_seconds + bytes / link.bytes_per_second;
    }
};

enum Level : std::size_t { within_node, between_nodes };
using RankLevels = std::array<LevelTraffic, 2>;

std::vector<RankLevels> traffic_by_level(const Schedule& schedule, const Step& step, const Machine& machine) {
    std::vector<RankLevels> traffic(static_cast<std::size_t>(schedule.grid.size()));
    for (const Message& message : messages_of(schedule, step)) {
        const bool same_node = message.from / machine.ranks_per_node == message.to / machine.ranks_per_node;
        const Level level = same_node ? within_node : between_nodes;
        LevelTraffic& from = traffic[static_cast<std::size_t>(message.from)][level];
        LevelTraffic& to = traffic[static_cast<std::size_t>(message.to)][level];
        from.sent_bytes += message.bytes;
        from.sent_messages += message.count;
        to.received_bytes += message.bytes;
        to.received_messages += message.count;
    }
    return traffic;
}

}  // namespace

double compute_seconds(const RankWork& work, const Machine& machine) {
    double seconds = work.dense_flops / machine.gemm_flops_per_second +
                     static_cast<double>(work.streamed_bytes) / machine.memory_bytes_per_second;
    if (work.sparse_flops > 0) seconds += work.sparse_flops / spmm_flops_per_second(machine, work.sparse_width);
    return seconds;
}

double step_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph, const Machine& machine) {
    const auto work = work_of(schedule, step, graph);
    const auto traffic = traffic_by_level(schedule, step, machine);
    double slowest = 0;
    for (std::size_t rank = 0; rank < work.size(); ++rank) {
        slowest = std::max(slowest, compute_seconds(work[rank], machine) +
                                        traffic[rank][within_node].seconds(machine.intra_node) +
                                        traffic[rank][between_nodes].seconds(machine.inter_node));
    }
    return machine.step_seconds + slowest;
}

}  // namespace gnnplan::cost
