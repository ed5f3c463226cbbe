#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

void add(std::vector<Message>& messages, int from, int to, std::int64_t bytes, std::int64_t count = 1) {
    if (from != to && bytes > 0) messages.push_back({from, to, bytes, count});
}

// Both layouts split rows over (x, z) first, so only ranks of one y-group, which follow each other, have blocks in
// common.
std::vector<Message> redistribution(const Schedule& schedule, const RedistributeStep& step) {
    std::vector<Message> messages;
    const DType dtype = tensor_of(schedule, step.in).dtype;
    const int group = schedule.grid.y;
    const std::vector<Block> sources = blocks_of(schedule, step.in);
    const std::vector<Block> targets = blocks_of(schedule, step.out);
    for (int from = 0; from < schedule.grid.size(); ++from) {
        const Block& source = sources[static_cast<std::size_t>(from)];
        const int first = from / group * group;
        for (int to = first; to < first + group; ++to) {
            add(messages, from, to, bytes_of(dtype, intersect(source, targets[static_cast<std::size_t>(to)]).count()));
        }
    }
    return messages;
}

// CAGNET section IV-A: each rank of an x-group broadcasts its panel to the others, (p_x - 1) * N * w elements in all.
std::vector<Message> panel_broadcasts(const Schedule& schedule, const SpmmStep& step) {
    std::vector<Message> messages;
    const Grid& grid = schedule.grid;
    if (step.exchange == Exchange::none) return messages;
    for (int root = 0; root < grid.size(); ++root) {
        const std::int64_t bytes = block_bytes(schedule, step.in, root);
        for (int ix = 0; ix < grid.x; ++ix) {
            const int to = grid.rank_at(ix, grid.coordinate(root, Axis::y), grid.coordinate(root, Axis::z));
            add(messages, root, to, bytes);
        }
    }
    return messages;
}

// Ring all-reduce of n elements over g ranks (Patarasuk & Yuan 2009): in the reduce-scatter rank r sends every block
// but (r + 1) mod g, which it ends up owning; in the all-gather every block but (r + 2) mod g; all to its neighbour r
// + 1.
std::vector<Message> ring(const Schedule& schedule, const AllReduceStep& step) {
    std::vector<Message> messages;
    const Tensor& tensor = tensor_of(schedule, step.tensor);
    const std::int64_t elements = checked_multiply(tensor.rows, tensor.columns);
    const int g = schedule.grid.size();
    const auto block = [&](int i) { return balanced_block({0, elements}, i % g, g).size(); };
    const std::int64_t per_phase = g - 1;
    for (int r = 0; r < g; ++r) {
        const std::int64_t sent = 2 * elements - block(r + 1) - block(r + 2);
        add(messages, r, (r + 1) % g, bytes_of(tensor.dtype, sent), std::min(2 * per_phase, sent));
    }
    return messages;
}

}  // namespace

std::vector<Message> messages_of(const Schedule& schedule, const Step& step) {
    return std::visit(Overloaded{
                          [&](const RedistributeStep& s) { return redistribution(schedule, s); },
                          [&](const SpmmStep& s) { return panel_broadcasts(schedule, s); },
                          [&](const AllReduceStep& s) { return ring(schedule, s); },
                          [](const GemmStep&) { return std::vector<Message>{}; },
                          [](const WeightGradStep&) { return std::vector<Message>{}; },
                          [](const MapStep&) { return std::vector<Message>{}; },
                          [](const LossStep&) { return std::vector<Message>{}; },
                          [](const ScoreStep&) { return std::vector<Message>{}; },
                          [](const UpdateStep&) { return std::vector<Message>{}; },
                      },
                      step.operation);
}

std::vector<RankTraffic> traffic_of(const Schedule& schedule, const Step& step) {
    std::vector<RankTraffic> traffic(static_cast<std::size_t>(schedule.grid.size()));
    for (const Message& message : messages_of(schedule, step)) {
        traffic[static_cast<std::size_t>(message.from)].sent_bytes += message.bytes;
        traffic[static_cast<std::size_t>(message.to)].received_bytes += message.bytes;
    }
    return traffic;
}

TrafficTotal total_traffic(const Schedule& schedule, Phase phase) {
    std::vector<RankTraffic> sums(static_cast<std::size_t>(schedule.grid.size()));
    TrafficTotal total;
    for (const Step& step : schedule.steps) {
        if (step.phase != phase) continue;
        const auto traffic = traffic_of(schedule, step);
        for (std::size_t rank = 0; rank < sums.size(); ++rank) {
            sums[rank].sent_bytes += traffic[rank].sent_bytes;
            sums[rank].received_bytes += traffic[rank].received_bytes;
        }
    }
    for (const RankTraffic& sum : sums) {
        total.total_bytes += sum.sent_bytes;
        total.max_rank_bytes = std::max({total.max_rank_bytes, sum.sent_bytes, sum.received_bytes});
    }
    return total;
}

}  // namespace gnnplan
