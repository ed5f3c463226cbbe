// Predicted beside measured, step by step.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/measure/step_log.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::train {

// What the schedule's steps should send and receive on `rank`, indexed by step.
std::vector<measure::StepSample> expected_bytes(const Schedule& schedule, int rank);

// Collective. Every rank's log, in rank order.
std::vector<measure::StepLog> gather_logs(comm::Communicator& comm, const measure::StepLog& log);

// One record for each step of `phase`: bytes predicted from the schedule, counted and timed from the ranks' logs.
std::vector<StepRecord> step_records(const Candidate& candidate, Phase phase,
                                     const std::vector<measure::StepLog>& ranks);

// Bytes of one pass over all steps logged.
struct CountedTotal {
    std::int64_t total_bytes = 0;
    std::int64_t max_rank_bytes = 0;  // larger of sent and received, of the busiest rank
};
CountedTotal counted_total(const std::vector<measure::StepLog>& ranks);

// The first difference between bytes predicted and counted, as a sentence.
std::optional<std::string> byte_mismatch(const RunReport& report);

}  // namespace gnnplan::train
