#include "planner/ir/sharded.hpp"
#include "planner/ir/steps/relay_rows.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <map>

namespace gnnplan {
StepMessages::StepMessages(const Schedule& schedule, const Step& step, const GraphStats& graph)
    : schedule_(schedule), operation_(step.operation), graph_(graph) {}

std::vector<int> StepMessages::peers(int rank) const {
    return std::visit(
        [&]<class S>(const S& step) -> std::vector<int> {
            if constexpr (LocalStep<S>)
                return {};
            else
                return step.peers(schedule_, rank);
        },
        operation_);
}

Message StepMessages::between(int from, int to) const {
    return std::visit(
        [&]<class S>(const S& step) -> Message {
            if constexpr (LocalStep<S>)
                return {from, to, 0, 0};
            else
                return step.between(schedule_, graph_, from, to);
        },
        operation_);
}

std::vector<Message> messages_of(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    const StepMessages all(schedule, step, graph);
    std::vector<Message> messages;
    for (int from = 0; from < schedule.grid.size(); ++from) {
        for (const int to : all.peers(from)) {
            const Message message = all.between(from, to);
            if (message.count > 0) messages.push_back(message);
        }
    }
    return messages;
}

std::vector<RankTraffic> traffic_of(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    std::vector<RankTraffic> traffic(static_cast<std::size_t>(schedule.grid.size()));
    for (const Message& message : messages_of(schedule, step, graph)) {
        traffic[static_cast<std::size_t>(message.from)].sent_bytes += message.bytes;
        traffic[static_cast<std::size_t>(message.to)].received_bytes += message.bytes;
    }
    return traffic;
}

RankTraffic traffic_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const StepMessages all(schedule, step, graph);
    RankTraffic traffic;
    for (const int peer : all.peers(rank)) {
        traffic.sent_bytes += all.between(rank, peer).bytes;
        traffic.received_bytes += all.between(peer, rank).bytes;
    }
    return traffic;
}

namespace {

void add(RankTraffic& sum, const RankTraffic& traffic, std::int64_t times = 1) {
    sum.sent_bytes += times * traffic.sent_bytes;
    sum.received_bytes += times * traffic.received_bytes;
}

// The bytes that each rank sends and receives, step by step. For most steps one rank of each class is looked at, or one
// of each class of the step itself where the schedule has many.
class TrafficSums {
public:
    TrafficSums(const Schedule& schedule, const GraphStats& graph)
        : schedule_(schedule),
          graph_(graph),
          slices_(schedule, graph),
          classes_(rank_classes(schedule)),
          sizes_(size_classes(schedule)),
          of_rank_(classes_.class_of.size()),
          of_class_(classes_.representative.size()) {}

    // As many equal steps.
    void add_steps(const Step& step, std::int64_t times) {
        if (relaying(step.operation) != nullptr) return add_relay(step, times);
        const bool by_graph = depends_on_graph(schedule_, step.operation);
        // Statistics expect the same of ranks of the same sizes, but for rounding, and for who shares a node.
        const bool apart = by_graph && (graph_.exact() || by_nodes(step.operation));
        if (apart || varies_with_rank(step.operation)) {
            if (slices_.counts(step))
                add_by_slices(step, times);
            else
                add_by_pairs(step, times);
        } else if (by_graph) {
            for (std::size_t c = 0; c < of_class_.size(); ++c)
                add(of_class_[c], slices_.traffic(step, classes_.representative[c]), times);
        } else {
            add_by_sizes(step, times);
        }
    }

    TrafficTotal total() const {
        std::vector<RankTraffic> sums = of_rank_;
        for (const auto& [sizes, of_size] : of_sizes_) add_to_ranks(sums, *sizes, of_size);
        add_to_ranks(sums, classes_, of_class_);
        TrafficTotal total;
        for (const RankTraffic& sum : sums) {
            total.total_bytes += sum.sent_bytes;
            total.max_rank_bytes = std::max({total.max_rank_bytes, sum.sent_bytes, sum.received_bytes});
        }
        return total;
    }

private:
    static void add_to_ranks(std::vector<RankTraffic>& sums, const RankClasses& classes,
                             const std::vector<RankTraffic>& of_class) {
        for (std::size_t rank = 0; rank < sums.size(); ++rank)
            add(sums[rank], of_class[static_cast<std::size_t>(classes.class_of[rank])]);
    }

    // The rows that a rank sends depend on its place in its node, too.
    void add_relay(const Step& step, std::int64_t times) {
        const SpmmStep& product = *relaying(step.operation);
        if (slices_.matrix_of(step)) return add_by_slices(step, times);
        RelayRows rows(schedule_, product);
        for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
            const std::int64_t bytes = product.travelling_bytes(schedule_, static_cast<int>(rank));
            const auto [sent, received] = rows.totals(static_cast<int>(rank));
            add(of_rank_[rank], {bytes * sent, bytes * received}, times);
        }
    }

    void add_by_slices(const Step& step, std::int64_t times) {
        for (std::size_t rank = 0; rank < of_rank_.size(); ++rank)
            add(of_rank_[rank], slices_.traffic(step, static_cast<int>(rank)), times);
    }

    // Goes through the receivers one by one, so that the graph's counts for a receiver's rows are found in the cache.
    void add_by_pairs(const Step& step, std::int64_t times) {
        const StepMessages all(schedule_, step, graph_);
        for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
            for (const int peer : all.peers(static_cast<int>(rank))) {
                const std::int64_t bytes = times * all.between(peer, static_cast<int>(rank)).bytes;
                of_rank_[static_cast<std::size_t>(peer)].sent_bytes += bytes;
                of_rank_[rank].received_bytes += bytes;
            }
        }
    }

    void add_by_sizes(const Step& step, std::int64_t times) {
        constexpr std::size_t many = 16;
        const bool own = sizes_.representative.size() > many;
        const RankClasses& sizes = own ? of_steps_.of(schedule_, step.operation) : sizes_;
        std::vector<RankTraffic>& sums = of_sizes_[&sizes];
        sums.resize(sizes.representative.size());
        for (std::size_t c = 0; c < sums.size(); ++c)
            add(sums[c], with_alike(step, sizes, sizes.representative[c]), times);
    }

    // Counts a step that sizes decide: a rank exchanges as much with each of the peers that are alike, but for the two
    // neighbours in a ring, and between groups.
    RankTraffic with_alike(const Step& step, const RankClasses& sizes, int rank) {
        const StepMessages all(schedule_, step, graph_);
        const std::vector<int> peers = all.peers(rank);
        if (peers.size() <= 2 || moves_across_groups(schedule_, step.operation))
            return traffic_of(schedule_, step, graph_, rank);
        const auto class_of = [&](int peer) {
            return static_cast<std::size_t>(sizes.class_of[static_cast<std::size_t>(peer)]);
        };
        RankTraffic traffic;
        std::vector<std::int64_t> count(sizes.representative.size(), 0);
        std::vector<int> examples;
        for (const int peer : peers) {
            if (count[class_of(peer)]++ == 0) examples.push_back(peer);
        }
        for (const int peer : examples) {
            const std::int64_t alike = count[class_of(peer)];
            traffic.sent_bytes += alike * all.between(rank, peer).bytes;
            traffic.received_bytes += alike * all.between(peer, rank).bytes;
        }
        return traffic;
    }

    const Schedule& schedule_;
    const GraphStats& graph_;
    ShardedSlices slices_;
    const RankClasses classes_, sizes_;
    StepClasses of_steps_;
    std::vector<RankTraffic> of_rank_, of_class_;
    std::map<const RankClasses*, std::vector<RankTraffic>> of_sizes_;
};

}  // namespace

TrafficTotal total_traffic(const Schedule& schedule, Phase phase, const GraphStats& graph) {
    TrafficSums sums(schedule, graph);
    std::map<std::string, std::pair<const Step*, std::int64_t>> equal;  // by signature: one of them, and how many
    for (const Step& step : schedule.steps) {
        if (step.phase != phase || !exchanges(step.operation)) continue;
        ++equal.try_emplace(signature_of(schedule, step.operation), &step, 0).first->second.second;
    }
    for (const auto& [signature, steps] : equal) sums.add_steps(*steps.first, steps.second);
    return sums.total();
}

bool depends_on_graph(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return depends_on_graph(schedule, step.operation); });
}

}  // namespace gnnplan
