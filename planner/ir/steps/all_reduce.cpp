#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <algorithm>
#include <array>

namespace gnnplan {
namespace {

// The ranks that differ from `rank` along no axes but those of a sum, in ascending order.
class SummingRanks {
public:
    SummingRanks(const Grid& grid, const Axes& axes, int rank) : grid_(grid), rank_(rank) {
        for (const Axis axis : grid.slowest_first()) {
            if (!axes.contains(axis)) continue;
            axes_[static_cast<std::size_t>(count_++)] = axis;
            size_ *= grid.extent(axis);
            place_ = place_ * grid.extent(axis) + grid.coordinate(rank, axis);
        }
    }

    int size() const { return size_; }
    int place() const { return place_; }  // of `rank` among them
    int at(int place) const {
        int rank = rank_;
        for (int i = count_; i-- > 0;) {
            const Axis axis = axes_[static_cast<std::size_t>(i)];
            rank = grid_.neighbour(rank, axis, place % grid_.extent(axis));
            place /= grid_.extent(axis);
        }
        return rank;
    }

private:
    const Grid& grid_;
    int rank_;
    std::array<Axis, 3> axes_{};
    int count_ = 0;  // of the axes
    int size_ = 1;
    int place_ = 0;
};

SummingRanks summing(const Schedule& schedule, const AllReduceStep& step, int rank) {
    return {schedule.grid, tensor_of(schedule, step.tensor).layout.partial, rank};
}

}  // namespace

bool AllReduceStep::over_all_ranks(const Schedule& schedule) const {
    return same_placement(tensor_of(schedule, tensor).layout, layout_partial(), schedule.grid);
}

void AllReduceStep::check(const StepCheck& step) const {
    step.with_role(tensor, {Role::transient, Role::cached, Role::edges});
    step.require(!step.at(tensor).layout.partial.empty(), "there is nothing to sum over");
    const DType dtype = step.at(tensor).dtype;
    step.require(dtype == DType::f32 || (dtype == DType::f64 && step.placed(tensor, layout_partial())),
                 "only floats are summed, and doubles over all ranks");
}

std::vector<int> AllReduceStep::group(const Schedule& schedule, int rank) const {
    const SummingRanks ranks = summing(schedule, *this, rank);
    std::vector<int> all;
    all.reserve(static_cast<std::size_t>(ranks.size()));
    for (int place = 0; place < ranks.size(); ++place) all.push_back(ranks.at(place));
    return all;
}

std::vector<int> AllReduceStep::peers(const Schedule& schedule, int rank) const {
    const SummingRanks ranks = summing(schedule, *this, rank);
    return ring_peers(ranks.place(), ranks.size(), [&](int place) { return ranks.at(place); });
}

// Patarasuk & Yuan 2009: in the reduce-scatter rank r of g sends every block but (r + 1) mod g, which it ends up
// owning; in the all-gather it sends every block but (r + 2) mod g. Both times its neighbour r + 1 is the receiver.
Message AllReduceStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const std::int64_t elements = elements_of(schedule, tensor, graph, from);
    const SummingRanks ranks = summing(schedule, *this, from);
    const int g = ranks.size();
    const int own = ranks.place();
    if (ranks.at((own + 1) % g) != to) return messages(from, to, 0, 0);
    const auto block = [&](int i) { return balanced_block({0, elements}, i % g, g).size(); };
    const std::int64_t sent = 2 * elements - block(own + 1) - block(own + 2);
    return messages(from, to, bytes_of(tensor_of(schedule, tensor).dtype, sent),
                    std::min(2 * (static_cast<std::int64_t>(g) - 1), sent));
}

// Communicators sum over all ranks by themselves; over fewer, a block of others' summands is received at a time.
Staging AllReduceStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const int ranks = summing(schedule, *this, rank).size();
    if (over_all_ranks(schedule) || ranks == 1) return {};
    const std::int64_t elements = elements_of(schedule, tensor, graph, rank);
    return {0, bytes_of(tensor_of(schedule, tensor).dtype, balanced_block({0, elements}, 0, ranks).size())};
}

RankWork AllReduceStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::copy, staging(schedule, graph, rank), &graph);
}

bool AllReduceStep::depends_on_graph(const Schedule& schedule) const {
    return tensor_of(schedule, tensor).role == Role::edges;
}

}  // namespace gnnplan
