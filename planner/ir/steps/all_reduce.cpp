#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/base/checked.hpp>

#include <numeric>

namespace gnnplan {

void AllReduceStep::check(const StepCheck& step) const {
    step.written(tensor), step.in_layout(tensor, layout_partial());
    const DType dtype = step.at(tensor).dtype;
    step.require(dtype == DType::f32 || dtype == DType::f64, "only floats are summed");
}

std::vector<int> AllReduceStep::peers(const Schedule& schedule, int rank) const {
    return ring_peers(rank, schedule.grid.size(), [](int position) { return position; });
}

std::vector<int> AllReduceStep::group(const Schedule& schedule, int /*rank*/) const {
    std::vector<int> all(static_cast<std::size_t>(schedule.grid.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// Patarasuk & Yuan 2009: in the reduce-scatter rank r sends every block but (r + 1) mod g, which it ends up owning; in
// the all-gather every block but (r + 2) mod g; all to its neighbour r + 1.
Message AllReduceStep::between(const Schedule& schedule, const GraphStats& /*graph*/, int from, int to) const {
    const Tensor& sum = tensor_of(schedule, tensor);
    const std::int64_t elements = checked_multiply(sum.rows, sum.columns);
    const int g = schedule.grid.size();
    if ((from + 1) % g != to) return messages(from, to, 0, 0);
    const auto block = [&](int i) { return balanced_block({0, elements}, i % g, g).size(); };
    const std::int64_t sent = 2 * elements - block(from + 1) - block(from + 2);
    return messages(from, to, bytes_of(sum.dtype, sent), std::min(2 * (static_cast<std::int64_t>(g) - 1), sent));
}

Staging AllReduceStep::staging(const Schedule& /*schedule*/, const GraphStats& /*graph*/, int /*rank*/) const {
    return {};
}

RankWork AllReduceStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::copy);
}

}  // namespace gnnplan
