#include "planner/cost/time.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <array>
#include <set>
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

// Peers of a rank that are alike and equally near.
struct PeerKind {
    int example = 0;
    Level level = within_node;
    int of = 0;
    std::int64_t count = 0;
};

std::vector<PeerKind> kinds_of(const std::vector<int>& peers, const Machine& machine, const CostedRanks& on, int rank) {
    constexpr std::size_t few = 8;  // neighbours in rings among them, which are never alike
    const bool alike = !on.class_of.empty() && peers.size() > few;
    std::vector<PeerKind> kinds;
    for (const int peer : peers) {
        const bool same_node = rank / machine.ranks_per_node == peer / machine.ranks_per_node;
        const Level level = same_node ? within_node : between_nodes;
        const int of = alike ? on.class_of[static_cast<std::size_t>(peer)] : 0;
        const auto known = alike ? std::find_if(kinds.begin(), kinds.end(),
                                                [&](const PeerKind& k) { return k.of == of && k.level == level; })
                                 : kinds.end();
        if (known == kinds.end()) {
            kinds.push_back({peer, level, of, 1});
        } else {
            ++known->count;
        }
    }
    return kinds;
}

RankLevels traffic_by_level(const StepMessages& messages, const Machine& machine, const CostedRanks& on, int rank) {
    RankLevels traffic;
    for (const PeerKind& kind : kinds_of(messages.peers(rank), machine, on, rank)) {
        LevelTraffic& level = traffic[kind.level];
        const Message sent = messages.between(rank, kind.example);
        const Message received = messages.between(kind.example, rank);
        level.sent_bytes += kind.count * sent.bytes;
        level.sent_messages += kind.count * sent.count;
        level.received_bytes += kind.count * received.bytes;
        level.received_messages += kind.count * received.count;
    }
    return traffic;
}

// A pipeline of `pieces`: while one is multiplied the next one comes. The first one is on the rank already unless its
// nonzeros come from others too.
double overlapped(double compute, double communication, double pieces, bool first_is_local) {
    if (pieces <= 1) return compute + communication;
    const double each = compute / pieces;
    const double fetch = communication / (first_is_local ? pieces - 1 : pieces);
    return (first_is_local ? 0 : fetch) + (pieces - 1) * std::max(each, fetch) + each;
}

double rank_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph, const Machine& machine,
                    const StepMessages& messages, const CostedRanks& on, int rank) {
    RankWork work = work_of(schedule, step, graph, rank);
    const RankLevels traffic = traffic_by_level(messages, machine, on, rank);
    const double communication =
        traffic[within_node].seconds(machine.intra_node) + traffic[between_nodes].seconds(machine.inter_node);
    const auto* spmm = std::get_if<SpmmStep>(&step.operation);
    if (spmm != nullptr && spmm->exchange == Exchange::rows) {
        work.streamed_bytes += 2 * (traffic[within_node].sent_bytes + traffic[between_nodes].sent_bytes);
    }
    const double compute = compute_seconds(work, machine);
    if (spmm == nullptr || !spmm->overlap) return compute + communication;
    const Tensor& matrix = tensor_of(schedule, spmm->matrix);
    return overlapped(compute, communication, piece_count(schedule.grid, matrix, rank),
                      !gathers_matrix(schedule.grid, matrix));
}

// A ring's blocks go by the number of the rank, whatever its class: ranks that send the most, or across the border of a
// node, within two elements. The same for every schedule, so that a sum of steps is the same wherever it is made.
std::vector<int> ring_ranks(int ranks, const Machine& machine) {
    const int last_border = (ranks - 1) / machine.ranks_per_node * machine.ranks_per_node;
    return {(2 * ranks - 3) % ranks, (last_border + ranks - 1) % ranks, ranks - 1};
}

// How many ranks of the same node differ from `rank` in their coordinate of `axis` at most.
int near(const Grid& grid, const Machine& machine, int rank, Axis axis) {
    const int extent = grid.extent(axis);
    if (extent == 1) return 1;
    const int stride = grid.neighbour(0, axis, 1);
    const int first = rank / machine.ranks_per_node * machine.ranks_per_node;
    const int last = first + machine.ranks_per_node - 1;
    const int own = grid.coordinate(rank, axis);
    return 1 + std::min(own, (rank - first) / stride) + std::min(extent - 1 - own, (last - rank) / stride);
}

}  // namespace

double compute_seconds(const RankWork& work, const Machine& machine) {
    double seconds = work.dense_flops / machine.gemm_flops_per_second +
                     static_cast<double>(work.streamed_bytes) / machine.memory_bytes_per_second;
    if (work.sparse_flops > 0) seconds += work.sparse_flops / spmm_flops_per_second(machine, work.sparse_width);
    return seconds;
}

CostedRanks ranks_to_cost(const Schedule& schedule, const GraphStats& graph, const Machine& machine) {
    const Grid& grid = schedule.grid;
    CostedRanks on;
    if (graph.exact()) {
        for (int rank = 0; rank < grid.size(); ++rank) on.ranks.push_back(rank);
        return on;
    }
    on.class_of = rank_classes(schedule, false).class_of;
    std::set<std::array<int, 4>> seen;
    for (int rank = 0; rank < grid.size(); ++rank) {
        const auto near_along = [&](Axis axis) { return near(grid, machine, rank, axis); };
        const int of = on.class_of[static_cast<std::size_t>(rank)];
        if (seen.insert({of, near_along(Axis::x), near_along(Axis::y), near_along(Axis::z)}).second) {
            on.ranks.push_back(rank);
        }
    }
    return on;
}

double step_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph, const Machine& machine,
                    const CostedRanks& on) {
    const StepMessages messages(schedule, step, graph);
    const bool ring = std::holds_alternative<AllReduceStep>(step.operation) && !graph.exact();
    double slowest = 0;
    for (const int rank : ring ? ring_ranks(schedule.grid.size(), machine) : on.ranks) {
        slowest = std::max(slowest, rank_seconds(schedule, step, graph, machine, messages, on, rank));
    }
    return machine.step_seconds + slowest;
}

}  // namespace gnnplan::cost
