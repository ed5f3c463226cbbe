#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gnnplan {
namespace {

int place_in(const std::vector<int>& ranks, int rank) {
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
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

// The ranks that differ along the axes of the sum alone, in their order.
std::vector<int> AllReduceStep::group(const Schedule& schedule, int rank) const {
    const Grid& grid = schedule.grid;
    const Axes& axes = tensor_of(schedule, tensor).layout.partial;
    const auto along = [&](Axis axis) {
        const int own = grid.coordinate(rank, axis);
        return axes.contains(axis) ? std::pair(0, grid.extent(axis)) : std::pair(own, own + 1);
    };
    const auto [x, y, z] = std::tuple(along(Axis::x), along(Axis::y), along(Axis::z));
    std::vector<int> ranks;
    for (int ix = x.first; ix < x.second; ++ix) {
        for (int iz = z.first; iz < z.second; ++iz) {
            for (int iy = y.first; iy < y.second; ++iy) ranks.push_back(grid.rank_at(ix, iy, iz));
        }
    }
    return ranks;
}

std::vector<int> AllReduceStep::peers(const Schedule& schedule, int rank) const {
    const std::vector<int> ranks = group(schedule, rank);
    return ring_peers(place_in(ranks, rank), static_cast<int>(ranks.size()),
                      [&](int place) { return ranks[static_cast<std::size_t>(place)]; });
}

// Patarasuk & Yuan 2009: in the reduce-scatter rank r of g sends every block but (r + 1) mod g, which it ends up owning;
// in the all-gather every block but (r + 2) mod g; all to its neighbour r + 1.
Message AllReduceStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const std::int64_t elements = elements_of(schedule, tensor, graph, from);
    const std::vector<int> ranks = group(schedule, from);
    const int g = static_cast<int>(ranks.size());
    const int own = place_in(ranks, from);
    if (ranks[static_cast<std::size_t>((own + 1) % g)] != to) return messages(from, to, 0, 0);
    const auto block = [&](int i) { return balanced_block({0, elements}, i % g, g).size(); };
    const std::int64_t sent = 2 * elements - block(own + 1) - block(own + 2);
    return messages(from, to, bytes_of(tensor_of(schedule, tensor).dtype, sent),
                    std::min(2 * (static_cast<std::int64_t>(g) - 1), sent));
}

// Communicators sum over all ranks by themselves; over fewer, a block of others' summands is received at a time.
Staging AllReduceStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const auto ranks = static_cast<std::int64_t>(group(schedule, rank).size());
    if (over_all_ranks(schedule) || ranks == 1) return {};
    const std::int64_t elements = elements_of(schedule, tensor, graph, rank);
    return {0, bytes_of(tensor_of(schedule, tensor).dtype,
                        balanced_block({0, elements}, 0, static_cast<int>(ranks)).size())};
}

RankWork AllReduceStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::copy, staging(schedule, graph, rank), &graph);
}

bool AllReduceStep::depends_on_graph(const Schedule& schedule) const {
    return tensor_of(schedule, tensor).role == Role::edges;
}

}  // namespace gnnplan
