// Predicted beside measured, step by step.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/load/share.hpp"
#include "runtime/measure/step_log.hpp"
#include "runtime/measure/timeline.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::deploy {

// When the steps of a pass ran that began at `first_step`.
std::vector<measure::TimedStep> times_of(const Schedule& schedule, Phase phase, std::size_t first_step,
                                         std::int64_t epoch, const std::vector<measure::StepSample>& samples);

// The bytes that the steps of `phase` should send and receive on `rank`, indexed by step of the schedule; 0 for steps
// of other phases, as Executor::run counts. `graph` answers in the schedule's numbering.
std::vector<measure::StepSample> expected_bytes(const Schedule& schedule, Phase phase, const GraphStats& graph,
                                                int rank);

// A log of epochs that expects what each of them will count; steps before `first_step` do not run.
measure::StepLog expected_epochs(const Schedule& schedule, const GraphStats& graph, int rank, std::size_t first_step);

// Collective. Every rank's log, in rank order.
std::vector<measure::StepLog> gather_logs(comm::Communicator& comm, const measure::StepLog& log);

// One record for each step of `phase`: bytes that the ranks expected, counted and timed, from their logs. `kernels` are
// those of rank 0, per step, or none.
std::vector<StepRecord> step_records(const Candidate& candidate, Phase phase,
                                     const std::vector<measure::StepLog>& ranks,
                                     const std::vector<std::vector<ProductKernel>>& kernels = {});

// The measurements of one rank; logs and steady_seconds are of the executor that was built last.
struct Measurements {
    measure::StepLog setup;
    measure::StepLog epoch;
    measure::StepLog evaluation;
    std::vector<double> steady_seconds;  // per epoch, the largest over ranks
    double load_seconds = 0;
    std::vector<load::LoadStep> load_steps;  // of a graph that was loaded in shares
    double partition_seconds = 0;            // cutting sparse blocks, summed over executors
    double initialise_seconds = 0;           // reading features, weights; summed over executors
    std::int64_t peak_bytes = 0;
    std::int64_t host_peak_bytes = 0;
    std::vector<std::vector<ProductKernel>> kernels;  // per step, see Executor::choose_kernels()
};

// Collective. Fills in what the chosen candidate was predicted to take and what it took: steps, evaluation, setup and
// totals. report.chosen, and in report.predicted times and peak, are set before.
void report_candidate(comm::Communicator& comm, const Plan& plan, const Measurements& mine, RunReport& report);

// The first difference between bytes predicted and counted, as a sentence.
std::optional<std::string> byte_mismatch(const RunReport& report);

}  // namespace gnnplan::deploy
