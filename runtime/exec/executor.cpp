#include "runtime/exec/executor.hpp"

#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace gnnplan::exec {
namespace {

// This rank, once it is known to be one of the grid's.
int rank_in(const Grid& grid, const comm::Communicator& comm) {
    if (comm.size() != grid.size()) {
        throw Error(ErrorCode::mismatch, "the schedule is for " + std::to_string(grid.size()) +
                                             " ranks, this run has " + std::to_string(comm.size()));
    }
    return comm.rank();
}

}  // namespace

Executor::Executor(const Schedule& schedule, std::shared_ptr<const GraphCounts> counts, comm::Communicator& comm,
                   const kernels::Table& kernels, MemoryTracker& tracker, measure::Clock& clock)
    : counts_(std::move(counts)),
      order_(tracker, counts_->order().bytes()),
      store_(schedule, *counts_, rank_in(schedule.grid, comm), tracker),
      world_(comm, traffic_),
      kernels_(kernels),
      clock_(clock) {}

void Executor::fill(TensorId id, const data::Dataset& dataset) {
    const Block block = store_.block(id);
    const data::VertexOrder& order = counts_->order();
    const auto vertex = [&](std::int64_t row) { return static_cast<std::size_t>(order.vertex_at(row)); };
    const auto gather = [&](const auto& all, auto out) {
        for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
            out[static_cast<std::size_t>(row - block.rows.begin)] = all(vertex(row));
        }
    };
    switch (tensor_of(schedule(), id).role) {
        case Role::features:
            dataset.read_features(block.rows, block.columns, store_.values<float>(id).data(), block.columns.size(),
                                  &order);
            break;
        case Role::labels:
            gather([&](std::size_t v) { return dataset.labels()[v]; }, store_.values<std::int32_t>(id));
            break;
        case Role::subset:
            gather([&](std::size_t v) { return dataset.subset()[v]; }, store_.values<std::uint8_t>(id));
            break;
        case Role::vertices:
            gather([&](std::size_t v) { return static_cast<std::int32_t>(v); }, store_.values<std::int32_t>(id));
            break;
        case Role::adjacency:
        case Role::weight:
        case Role::bias:
        case Role::moment:
        case Role::cached:
        case Role::transient: break;
    }
}

void Executor::fill(const data::Dataset& dataset) {
    for (std::size_t id = 0; id < schedule().tensors.size(); ++id) fill(static_cast<TensorId>(id), dataset);
    counts_.reset();
    order_.reset();
}

std::vector<measure::StepSample> Executor::run(Phase phase, const PassSettings& settings, const Observer& observer) {
    const auto& steps = schedule().steps;
    std::vector<measure::StepSample> samples(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].phase != phase) continue;
        const StepContext context{store_, kernels_, world_, settings, i};
        traffic_.reset();
        const double start = clock_.now();
        std::visit([&](const auto& operation) { run_step(operation, context); }, steps[i].operation);
        samples[i] = {clock_.now() - start, traffic_.sent_bytes, traffic_.received_bytes};
        keep_results(steps[i].operation);
        if (observer) observer(steps[i], *this);
    }
    return samples;
}

// Loss and counts, the only doubles, are read as soon as they are summed: their memory is reused by later steps.
void Executor::keep_results(const Operation& operation) {
    for (const TensorId result : operands_of(operation).writes) {
        if (tensor_of(schedule(), result).dtype != DType::f64) continue;
        const auto values = store_.values<double>(result);
        if (values.size() == correct_.size()) {
            std::copy(values.begin(), values.end(), correct_.begin());
        } else {
            loss_sum_ = values.front();
        }
    }
}

TensorId Executor::find(std::string_view tensor) const {
    const auto& tensors = schedule().tensors;
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == tensor; });
    if (found == tensors.end()) throw Error(ErrorCode::usage, "the schedule has no tensor " + std::string(tensor));
    return static_cast<TensorId>(found - tensors.begin());
}

std::span<const float> Executor::values(std::string_view tensor) const {
    const TensorId id = find(tensor);
    ensure(schedule().tensors[static_cast<std::size_t>(id)].dtype == DType::f32, "only float tensors can be read");
    return store_.values<float>(id);
}

Block Executor::block(std::string_view tensor) const { return store_.block(find(tensor)); }

}  // namespace gnnplan::exec
