#include "runtime/run/machine_state.hpp"

#include "planner/catalog/host.hpp"
#include "runtime/calibrate/probe.hpp"

#include <unistd.h>

#include <algorithm>

namespace gnnplan::run {
namespace {

constexpr double shortest_run = 60;   // seconds
constexpr std::int64_t operands = 3;  // times the largest one are allocated, about

// All ranks know this alike.
bool is_comparable(const Shared& shared, const Launch& launch) {
    const Machine& machine = shared.plan.machine;
    if (shared.infers() || !shared.backend.host_memory || !machine.measured || !machine.calibration) return false;
    const Calibration& calibration = *machine.calibration;
    if (!calibration.probe || calibration.threads.value_or(1) != shared.options.threads) return false;
    const Prediction& predicted = shared.plan.candidates.front().predicted;
    const std::int64_t room = machine.memory_per_rank - predicted.peak_bytes_per_rank;
    return static_cast<double>(shared.options.epochs) * predicted.epoch_seconds > shortest_run &&
           operands * calibration.probe->middle.largest_bytes <= room &&
           (shared.plan.problem.ranks == 1 || calibration.processes.value_or(!launch.threads) != launch.threads);
}

bool is_host_of(const ProbeReference& reference) {
    return catalog::read_host().cpu_model == reference.cpu && sysconf(_SC_NPROCESSORS_ONLN) == reference.cores;
}

}  // namespace

std::optional<ProbeFigures> probe_state(const Shared& shared, comm::Communicator& comm, const Launch& launch,
                                        measure::Clock& clock) {
    if (!is_comparable(shared, launch)) return std::nullopt;
    const ProbeReference& reference = *shared.plan.machine.calibration->probe;
    const calibrate::Nodes nodes = calibrate::find_nodes(comm, 0);
    const bool differs = !is_host_of(reference) || nodes.ranks_per_node() != shared.plan.machine.ranks_per_node;
    if (comm::control_max(comm, differs ? 1.0 : 0.0) > 0) return std::nullopt;
    const auto processor = kernels::host_device(kernels::cpu_table());
    const calibrate::Setting setting{comm, clock, *processor, calibrate::probe_effort};
    return calibrate::Probe(setting, nodes, reference.middle.largest_bytes).measure();
}

}  // namespace gnnplan::run
