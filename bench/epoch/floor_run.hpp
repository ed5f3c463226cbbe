// A run beside its floor, step by step.
#pragma once

#include "bench/epoch/floor_steps.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <string>
#include <vector>

namespace gnnplan::bench {

struct FloorRow {
    std::string name;
    std::string kind;
    StepFloor floor;      // of the rank whose is the largest
    double measured = 0;  // seconds of the slowest rank, waiting for others included
    // Seconds of those in which some rank still did what comes before: the step did not move the latest rank on. 0 in
    // reports of earlier versions.
    double waiting = 0;

    double ratio() const { return floor.seconds() > 0 ? measured / floor.seconds() : 0; }  // 0: there is no floor
    double excess() const { return measured - floor.seconds(); }
};

struct EpochFloor {
    std::vector<FloorRow> rows;  // in the order of the epoch
    // Seconds of the rank whose steps add up to the most: all of them, and without elementwise steps and copies.
    double sum = 0;
    double fused = 0;
    double sum_with_reuse = 0;
    double measured = 0;  // median epoch
};

// Checks that the report is of training by `plan` on processors that were not shared out among more threads. Throws
// ErrorCode::mismatch, or ErrorCode::data where the report has no measured steps, naming `report_file`.
void check_report(const Plan& plan, const RunReport& report, const std::string& report_file);

// `graph` answers in the numbering of the candidate that trained the last epoch.
EpochFloor lay_beside(const Plan& plan, const RunReport& report, const GraphStats& graph, const Peaks& peaks);

// The candidate that trained the last epoch.
const Candidate& chosen(const Plan& plan, const RunReport& report);

// The rows with the largest excess first.
void sort_by_excess(EpochFloor& epoch);

}  // namespace gnnplan::bench
