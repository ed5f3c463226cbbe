#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

bool LossStep::column_parallel(const Schedule& schedule) const {
    return tensor_of(schedule, labels).dtype != DType::bits &&
           !same_placement(tensor_of(schedule, logits).layout, layout_r(), schedule.grid);
}

void LossStep::check(const StepCheck& step) const {
    step.labelled(logits, labels, subset, known), step.scalar(loss, 1);
    if (weights) {
        step.with_role(*weights, {Role::counts_as}), step.of_rows(*weights, logits);
    }
    step.require(step.placed(logits, layout_r()) || step.placed(logits, layout_c()),
                 "an operand is in the wrong layout");
}

std::vector<int> LossStep::peers(const Schedule& schedule, int rank) const {
    return column_parallel(schedule) ? peers_along(schedule.grid, Axis::y, rank) : std::vector<int>{};
}

// A maximum and a sum for each row.
Message LossStep::between(const Schedule& schedule, const GraphStats& /*graph*/, int from, int to) const {
    return one_message(from, to, 8 * block_of(schedule, logits, from).rows.size());
}

// A maximum and a sum for each row, this rank's and those of its peers.
Staging LossStep::staging(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    if (!column_parallel(schedule)) return {};
    const std::int64_t bytes = 8 * block_of(schedule, logits, rank).rows.size();
    return {bytes, bytes * (schedule.grid.y - 1)};
}

// Training vertices are alike over the rows, unless those come first that the loss needs.
RankWork LossStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const Block own = block_of(schedule, logits, rank);
    const auto training = static_cast<double>(graph.training_vertices());
    RankWork work = streamed(schedule, *this, rank, ElementwiseKind::loss, staging(schedule, graph, rank));
    work.columns = own.columns.size();
    work.loss_rows = static_cast<double>(own.rows.size());
    work.training_rows = schedule.numbering.loss_layers > 0
                             ? static_cast<double>(intersect(own.rows, {0, graph.training_vertices()}).size())
                             : work.loss_rows * training / static_cast<double>(graph.vertices());
    return work;
}

}  // namespace gnnplan
