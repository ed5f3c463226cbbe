#include "runtime/exec/executor.hpp"

#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <string>

namespace gnnplan::exec {
namespace {

std::unique_ptr<comm::Communicator> make_x_group(comm::Communicator& world, const Grid& grid) {
    if (world.size() != grid.size()) {
        throw Error(ErrorCode::mismatch, "the schedule is for " + std::to_string(grid.size()) +
                                             " ranks, this run has " + std::to_string(world.size()));
    }
    const int rank = world.rank();
    return world.split(grid.coordinate(rank, Axis::z) * grid.y + grid.coordinate(rank, Axis::y),
                       grid.coordinate(rank, Axis::x));
}

}  // namespace

Executor::Executor(const Schedule& schedule, const GraphStats& graph, comm::Communicator& comm,
                   const kernels::Table& kernels, MemoryTracker& tracker, measure::Clock& clock)
    : store_(schedule, graph, comm.rank(), tracker),
      world_(comm, traffic_),
      x_group_(make_x_group(world_, schedule.grid)),
      kernels_(kernels),
      clock_(clock) {}

void Executor::fill(const data::Dataset& dataset) {
    for (std::size_t i = 0; i < schedule().tensors.size(); ++i) {
        const auto id = static_cast<TensorId>(i);
        const Block block = store_.block(id);
        const auto from = [&](const auto& all) { return all.begin() + block.rows.begin; };
        switch (schedule().tensors[i].role) {
            case Role::features:
                dataset.read_features(block.rows, block.columns, store_.values<float>(id).data(), block.columns.size());
                break;
            case Role::labels:
                std::copy_n(from(dataset.labels()), block.rows.size(), store_.values<std::int32_t>(id).begin());
                break;
            case Role::subset:
                std::copy_n(from(dataset.subset()), block.rows.size(), store_.values<std::uint8_t>(id).begin());
                break;
            case Role::adjacency:
            case Role::weight:
            case Role::bias:
            case Role::moment:
            case Role::transient: break;
        }
    }
}

std::vector<measure::StepSample> Executor::run(Phase phase, const PassSettings& settings, const Observer& observer) {
    const auto& steps = schedule().steps;
    std::vector<measure::StepSample> samples(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].phase != phase) continue;
        const StepContext context{store_, kernels_, world_, *x_group_, settings, i};
        traffic_.reset();
        const double start = clock_.now();
        std::visit([&](const auto& operation) { run_step(operation, context); }, steps[i].operation);
        samples[i] = {clock_.now() - start, traffic_.sent_bytes, traffic_.received_bytes};
        keep_results(steps[i].operation);
        if (observer) observer(steps[i], *this);
    }
    return samples;
}

// Loss and counts are read as soon as they are summed: their memory is reused by later steps.
void Executor::keep_results(const Operation& operation) {
    TensorId id = -1;
    if (const auto* loss = std::get_if<LossStep>(&operation)) id = loss->loss;
    if (const auto* score = std::get_if<ScoreStep>(&operation)) id = score->counts;
    if (const auto* reduce = std::get_if<AllReduceStep>(&operation)) id = reduce->tensor;
    if (id < 0 || tensor_of(schedule(), id).dtype != DType::f64) return;
    const auto values = store_.values<double>(id);
    if (values.size() == correct_.size()) {
        std::copy(values.begin(), values.end(), correct_.begin());
    } else {
        loss_sum_ = values.front();
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
