#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

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

TrafficTotal total_traffic(const Schedule& schedule, Phase phase, const GraphStats& graph) {
    const RankClasses classes = rank_classes(schedule);
    std::vector<RankTraffic> sums(static_cast<std::size_t>(schedule.grid.size()));
    const auto add = [](RankTraffic& sum, const RankTraffic& traffic) {
        sum.sent_bytes += traffic.sent_bytes;
        sum.received_bytes += traffic.received_bytes;
    };
    std::vector<RankTraffic> of_class(classes.representative.size());
    for (const Step& step : schedule.steps) {
        if (step.phase != phase) continue;
        // What statistics expect of a graph is the same for ranks of the same sizes, but for rounding.
        const bool counted = graph.exact() && depends_on_graph(schedule, step.operation);
        const bool by_rank = counted || varies_with_rank(step.operation);
        if (by_rank) {
            for (int rank = 0; rank < schedule.grid.size(); ++rank) {
                add(sums[static_cast<std::size_t>(rank)], traffic_of(schedule, step, graph, rank));
            }
            continue;
        }
        for (std::size_t c = 0; c < of_class.size(); ++c) {
            add(of_class[c], traffic_of(schedule, step, graph, classes.representative[c]));
        }
    }
    TrafficTotal total;
    for (std::size_t rank = 0; rank < sums.size(); ++rank) {
        RankTraffic sum = sums[rank];
        add(sum, of_class[static_cast<std::size_t>(classes.class_of[rank])]);
        total.total_bytes += sum.sent_bytes;
        total.max_rank_bytes = std::max({total.max_rank_bytes, sum.sent_bytes, sum.received_bytes});
    }
    return total;
}

bool depends_on_graph(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return depends_on_graph(schedule, step.operation); });
}

}  // namespace gnnplan
