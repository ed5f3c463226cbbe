// Traces of runs in the trace-event format that Chrome's about:tracing and Perfetto read: docs/plan-format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::io {

struct TraceSlice {
    std::string name;  // of the step
    std::string kind;
    std::int64_t epoch = 0;
    std::int64_t start_nanoseconds = 0;  // since the trace began
    std::int64_t nanoseconds = 0;
    std::int64_t bytes = 0;  // sent by the rank; of a prediction, by all of them
    bool evaluation = false;
    std::int64_t waiting_nanoseconds = 0;               // at its begin, for the last rank of the exchange to begin it
    std::optional<std::int64_t> predicted_nanoseconds;  // of a measured step
};

// One row of a trace: a rank, or predictions. Slices ascend and do not overlap.
struct TraceLane {
    std::string name;
    std::vector<TraceSlice> slices;
};

struct TraceProcess {
    std::string name;
    std::vector<TraceLane> lanes;
};

struct Trace {
    std::string tool_version;
    std::string command_line;
    std::vector<TraceProcess> processes;
};

// Processes and lanes are numbered (pid, tid) from 0 in their order, so that a rank's tid is the rank; times are in
// microseconds, as the format wants them. Time that a step waits for others is a slice "waiting" within the step's.
std::string write_trace(const Trace& trace);

}  // namespace gnnplan::io
