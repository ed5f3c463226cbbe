#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>

namespace gnnplan {

void SumRowsStep::check(const StepCheck& step) const {
    step.with_role(matrix, {Role::adjacency}), step.with_role(in, {Role::summands});
    step.require(step.at(matrix).cut() && step.at(in).structure == matrix, "its summands are not those of a cut");
    step.typed(in, DType::f32), step.typed(out, DType::f32), step.written(out);
    step.same_shape(in, out), step.in_layout(out, layout_c());
}

std::vector<int> SumRowsStep::peers(const Schedule& schedule, int rank) const {
    return peers_along(schedule.grid, Axis::x, rank);
}

// The receiver's rows in which the sender's part has a nonzero.
Message SumRowsStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const Block owned = block_of(schedule, out, to);
    return one_message(from, to,
                       wire_bytes(wire, targets_in(schedule, matrix, graph, from, owned.rows) * owned.columns.size()));
}

// The rows of one rank after the other; in fp32 nothing is packed, as summands of one owner's rows follow each other.
Staging SumRowsStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    Staging staging;
    for (const int peer : peers(schedule, rank)) {
        staging.receive_bytes = std::max(staging.receive_bytes, between(schedule, graph, peer, rank).bytes);
        if (wire == Wire::bfloat16)
            staging.send_bytes = std::max(staging.send_bytes, between(schedule, graph, rank, peer).bytes);
    }
    return staging;
}

// The sum is cleared; each summand is read, and added to what is read and written again.
RankWork SumRowsStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    RankWork work;
    const Block owned = block_of(schedule, out, rank);
    std::int64_t added = 4 * targets_in(schedule, matrix, graph, rank, owned.rows) * owned.columns.size();
    for (const int peer : peers(schedule, rank)) {
        const std::int64_t received = between(schedule, graph, peer, rank).bytes;
        if (wire == Wire::fp32) {
            added += received;
            continue;
        }
        work.narrowed_bytes += rounded_bytes(between(schedule, graph, rank, peer).bytes);
        work.widened_bytes += added_bytes(received);
    }
    work.streamed_bytes = 4 * owned.count() + 3 * added;
    return work;
}

}  // namespace gnnplan
