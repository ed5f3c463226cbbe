// gnnplan calibrate --from: a profile learns from reports of runs that were predicted with it.
#pragma once

#include <gnnplan/ir/profile.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The profile that all these runs were predicted with, and its file.
struct Learner {
    std::string file;
    Profile profile;
};

// Reads the reports and has the kept profile learn from them; prints nothing and writes nothing. Throws Error{data} for
// a report that teaches nothing, or that was predicted with no profile that is kept, or with another one than the first
// report.
Learner learn_from_reports(const std::vector<std::string>& reports);

// By how much epochs differ from what the curves say, part by part: "gemm  1.04 x  spread 3 %"; and as faults of the
// model those that are off by more than 15 %. "" where no epoch was measured.
std::string corrections_text(const Calibration& calibration, bool color);

// "error    epochs: median 2.1 %, nine in ten below 5.0 % (each graph predicted from the others)".
std::string epoch_errors_line(const Calibration& calibration);

}  // namespace gnnplan::tools
