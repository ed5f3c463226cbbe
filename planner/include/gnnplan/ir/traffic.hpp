// Messages of each collective, from the block boundaries; nothing here is a rounded formula.
//
// Conventions, one message each unless said otherwise:
//   redistribute    Pairwise, each pair of ranks of a y-group whose blocks intersect. Where the source is replicated, a
//                   rank is served by the one that has its coordinates, so that out of F nothing moves.
//   spmm            Pairwise, straight from the rank that holds them: dense rows of each piece (all, or the needed
//                   ones), a message for each column operand, and the nonzeros of each piece that another rank of the
//                   y-group stores. Relayed ones come from a neighbour (panel_relay.hpp).
//   index           The numbers of the needed rows, 4 bytes each.
//   reduce_scatter  A ring over the ranks of the partial axis: each sends every block but its own to its right
//                   neighbour, one message for each.
//   all_reduce      A ring over all ranks: reduce-scatter, then all-gather, over balanced blocks of elements.
//   loss            Column-parallel only: pairwise in a y-group, a maximum and a sum for each row, 8 bytes.
//
// `graph` answers in the schedule's numbering. Only pieces of graph-dependent size ask it.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// `count` messages from one rank to another, `bytes` in all.
struct Message {
    int from = 0;
    int to = 0;
    std::int64_t bytes = 0;
    std::int64_t count = 0;

    // One more message; empty ones do not exist.
    void add(std::int64_t more) {
        bytes += more;
        count += more > 0 ? 1 : 0;
    }
};

// StepMessages has all messages between ranks in one step. `schedule`, `step` and `graph` outlive the object.
class StepMessages {
public:
    StepMessages(const Schedule& schedule, const Step& step, const GraphStats& graph);

    // Ranks that `rank` may send to or receive from, itself not among them.
    std::vector<int> peers(int rank) const;
    // All messages of a pair; none have count and bytes 0. Messages to oneself and empty ones do not exist.
    Message between(int from, int to) const;

private:
    const Schedule& schedule_;
    const Operation& operation_;
    const GraphStats& graph_;
};

struct RankTraffic {
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    bool operator==(const RankTraffic&) const = default;
};

// Every message of a step, in no particular order.
std::vector<Message> messages_of(const Schedule& schedule, const Step& step, const GraphStats& graph);

// Bytes sent and received by one rank, and by each rank, in a step.
RankTraffic traffic_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank);
std::vector<RankTraffic> traffic_of(const Schedule& schedule, const Step& step, const GraphStats& graph);

// Adds up a phase. total_bytes: bytes that leave a rank for another one. max_rank_bytes: the busiest rank's, the larger
// of its sent and its received bytes, each summed over the phase.
struct TrafficTotal {
    std::int64_t total_bytes = 0;
    std::int64_t max_rank_bytes = 0;
};
TrafficTotal total_traffic(const Schedule& schedule, Phase phase, const GraphStats& graph);

// Whether bytes of any step follow from more than sizes.
bool depends_on_graph(const Schedule& schedule);

}  // namespace gnnplan
