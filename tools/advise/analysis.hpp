// A run report, analysed: which steps make the predicted epoch differ from the measured one, and the likely reason.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::tools {

// The kind of work that a step spends its time on. A product that gets rows of other ranks does two things at once.
enum class Work : std::uint8_t { communication, spmm_exchange, spmm, gemm, elementwise, optimiser };
inline constexpr int work_kinds = 6;
Work work_of(std::string_view kind, std::int64_t bytes);  // of a step that moves so many bytes
std::string_view text_of(Work work);                      // "SpMM + exchange"
std::string_view key_of(Work work);                       // "spmm_exchange"

struct TimePair {
    double predicted = 0;
    double measured = 0;
    double error() const { return measured - predicted; }
    std::optional<double> ratio() const;  // none where nothing was predicted
};

struct StepAnalysis {
    std::string name;
    std::string kind;
    std::optional<Origin> origin;
    Work work = Work::elementwise;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t bytes = 0;           // counted, sent by all ranks
    std::int64_t max_rank_bytes = 0;  // counted, of the rank that sends most
    TimePair seconds;
    double share = 0;  // of the sum of all steps' absolute errors
    int worst = 0;     // 1, 2, 3: the steps that err by most seconds, as far as they matter; 0: none of them
};

// One-time work before the pass.
struct SetupAnalysis {
    std::string name;
    std::int64_t bytes = 0;  // counted, sent by all ranks
    TimePair seconds;
};

struct WorkTotal {
    Work work = Work::elementwise;
    int steps = 0;
    std::int64_t bytes = 0;
    TimePair seconds;
};

// Where the predictions came from, as far as it is known.
struct ProfileOrigin {
    std::string name;
    bool measured = false;
};

struct Hint {
    std::string cause;  // a word for scripts: "bandwidth", "waiting", ...
    std::string text;   // a sentence or two for people
};

struct Analysis {
    TimePair epoch;
    bool calibrated = true;  // predictions are of a machine that was measured, as far as is known
    // By how much the steps' times, each the largest over ranks, add up to more than the epoch: ranks that wait at one
    // step for what others spent in another.
    double waiting_seconds = 0;
    std::optional<TimePair> batches;  // drawing them, cutting their blocks and filling their rows, before the steps
    double outside_seconds = 0;       // by how much the epoch takes longer than its steps: ranks do nothing then
    std::vector<StepAnalysis> steps;  // in the order of the epoch
    std::vector<WorkTotal> totals;    // longest first
    std::vector<SetupAnalysis>
        setup;  // of an inference, in the order of the report: loading, part by part, and the rest
    Hint hint;
};

Analysis analyse(const RunReport& report, const std::optional<ProfileOrigin>& profile);

// The likely reason, from the pattern of errors; analysis.hint is not read.
Hint hint_of(const Analysis& analysis, const RunReport& report, const std::optional<ProfileOrigin>& profile);

}  // namespace gnnplan::tools
