// Runs a schedule on ranks as threads and keeps everything a test may want to compare.
#pragma once

#include "kernels/table.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/measure/step_log.hpp"
#include "tests/integration/problem.hpp"
#include "tests/support/devices.hpp"

#include <gnnplan/ir/memory.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::testing {

// Gradients and updated values of one epoch on one rank, as Parameters has them.
struct RankEpoch {
    double loss = 0;
    std::vector<std::vector<float>> weight_gradient, bias_gradient;
    std::vector<std::vector<float>> weight, bias;
    std::vector<measure::StepSample> steps;
};

struct RankRun {
    std::shared_ptr<const exec::GraphCounts> counts;  // of the graph as the schedule numbers it
    std::vector<measure::StepSample> setup;
    std::vector<RankEpoch> epochs;
    std::vector<double> found;  // of the evaluation after the last epoch, as ScoreStep counts
    double valid_loss = 0;      // of the validation vertices, added up, likewise
    std::vector<double> ranks;  // as RankSumStep, likewise
    std::vector<measure::StepSample> evaluation;
    std::vector<float> outputs;  // of an inference: whole rows of the vertices below
    std::vector<std::int64_t> vertices;
    std::int64_t predicted_peak = 0;
    std::int64_t allocated_peak = 0;
    std::int64_t predicted_host_peak = 0;
    std::int64_t allocated_host_peak = 0;
};

// The problem's graph in the numbering of a schedule.
std::shared_ptr<const exec::GraphCounts> numbered_counts(const TestProblem& problem, const Schedule& schedule);

inline constexpr std::uint64_t run_seed = 1;
inline constexpr double run_weight_decay = 5e-3;

// Told of each step of an epoch before it runs, and of null behind the last one.
using StepAhead = std::function<void(const Step*)>;

// Trains `epochs` epochs and evaluates once, or infers once, as one rank of `comm`: on the host with these kernels, or
// on another device. Collective.
RankRun run_rank(const TestProblem& problem, const Schedule& schedule, int epochs, const kernels::Table& kernels,
                 comm::Communicator& comm, const std::optional<DeviceKind>& on = wanted_device(),
                 const StepAhead& ahead = {});

// The same on ranks as threads; the result is by rank.
std::vector<RankRun> run_schedule(const TestProblem& problem, const Schedule& schedule, int epochs,
                                  const kernels::Table& kernels = kernels::cpu_table(),
                                  const std::optional<DeviceKind>& on = wanted_device());

}  // namespace gnnplan::testing
