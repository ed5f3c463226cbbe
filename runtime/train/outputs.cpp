#include "runtime/train/outputs.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <optional>

namespace gnnplan::train {

const Tensor& outputs_of(const Schedule& schedule) {
    if (schedule.output) return tensor_of(schedule, *schedule.output);
    for (const Step& step : schedule.steps) {
        const std::optional<TensorId> logits = logits_of(step.operation);
        if (logits && step.phase == Phase::evaluation) return tensor_of(schedule, *logits);
    }
    throw Error(ErrorCode::data, "a schedule without an evaluation has no outputs", "schedule");
}

Range output_rows(const Schedule& schedule, int rank) {
    const Tensor& outputs = outputs_of(schedule);
    return block_of(outputs.rows, outputs.columns, outputs.layout, schedule.grid, rank).rows;
}

std::int64_t OutputRows::bytes_of(const Schedule& schedule, int rank) {
    if (schedule.numbering.identity()) return 0;
    return 4 * output_rows(schedule, rank).size();
}

OutputRows::OutputRows(const Schedule& schedule, const exec::GraphCounts& counts, int rank,
                       exec::MemoryTracker& tracker)
    : charge_(tracker, bytes_of(schedule, rank), exec::Holder::host) {
    if (schedule.numbering.identity()) return;
    const Range rows = output_rows(schedule, rank);
    vertices_.reserve(static_cast<std::size_t>(rows.size()));
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
        vertices_.push_back(static_cast<std::int32_t>(counts.order().vertex_at(row)));
}

}  // namespace gnnplan::train
