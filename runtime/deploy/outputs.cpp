#include "runtime/deploy/outputs.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace gnnplan::deploy {
namespace {

// The tensors that steps up to `end` compute and later ones read.
std::set<TensorId> handed_on(const Schedule& schedule, std::size_t end) {
    std::set<TensorId> written, read;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        if (schedule.steps[i].phase != Phase::epoch) continue;
        const Operands operands = operands_of(schedule.steps[i].operation);
        if (i <= end) {
            written.insert(operands.writes.begin(), operands.writes.end());
        } else {
            read.insert(operands.reads.begin(), operands.reads.end());
        }
    }
    std::erase_if(written, [&](TensorId id) { return !read.contains(id); });
    return written;
}

// The rows of all that is written.
Range rows_of(const Schedule& schedule, int rank, Written written) {
    if (written == Written::nothing) return {};
    Range all = rows_of(schedule, outputs_of(schedule), rank);
    if (written == Written::outputs) return all;
    for (const LayerEnd& end : layer_ends(schedule)) {
        const Range rows = rows_of(schedule, tensor_of(schedule, end.tensor), rank);
        all = {std::min(all.begin, rows.begin), std::max(all.end, rows.end)};
    }
    return all;
}

}  // namespace

const Tensor& outputs_of(const Schedule& schedule) {
    if (schedule.output) return tensor_of(schedule, *schedule.output);
    std::optional<TensorId> last;
    for (const Step& step : schedule.steps) {
        const std::optional<TensorId> logits = logits_of(step.operation);
        if (logits && step.phase == Phase::evaluation) last = logits;
    }
    if (last) return tensor_of(schedule, *last);
    throw Error(ErrorCode::data, "a schedule without an evaluation has no outputs", "schedule");
}

std::vector<LayerEnd> layer_ends(const Schedule& schedule) {
    ensure(schedule.output.has_value(), "the layers of an inference");
    std::vector<std::size_t> last;  // steps of the layers
    int layer = 0;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (step.phase != Phase::epoch) continue;
        const bool next = step.origin.layer == layer + 1;
        if (!next && step.origin.layer != layer) {
            throw Error(ErrorCode::unavailable, "the steps of the plan are not in the order of its layers", step.name);
        }
        if (next) last.push_back(i), ++layer;
        last.back() = i;
    }
    std::vector<LayerEnd> ends;
    for (const std::size_t step : last) {
        if (step == last.back()) {
            ends.push_back({step, *schedule.output});
            break;
        }
        const std::set<TensorId> tensors = handed_on(schedule, step);
        if (tensors.size() != 1) {
            throw Error(ErrorCode::unavailable,
                        "layer " + std::to_string(ends.size() + 1) + " hands on " + std::to_string(tensors.size()) +
                            " matrices, and is saved as one",
                        schedule.steps[step].name,
                        "leave out `save-layers`; `save-logits` writes what the network makes");
        }
        ends.push_back({step, *tensors.begin()});
    }
    return ends;
}

std::int64_t OutputRows::bytes_of(const Schedule& schedule, int rank, Written written) {
    if (schedule.numbering.identity()) return 0;
    return 4 * rows_of(schedule, rank, written).size();
}

OutputRows::OutputRows(const Schedule& schedule, const exec::NumberedCounts& counts, int rank, Written written,
                       exec::MemoryTracker& tracker)
    : charge_(tracker, bytes_of(schedule, rank, written), exec::Holder::host) {
    if (schedule.numbering.identity()) return;
    const Range rows = rows_of(schedule, rank, written);
    first_ = rows.begin;
    vertices_.reserve(static_cast<std::size_t>(rows.size()));
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
        vertices_.push_back(static_cast<std::int32_t>(counts.order().vertex_at(row)));
}

}  // namespace gnnplan::deploy
