#include "bench/epoch/floor_run.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstddef>

namespace gnnplan::bench {
namespace {

std::vector<const Step*> epoch_steps(const Schedule& schedule) {
    std::vector<const Step*> steps;
    for (const Step& step : schedule.steps) {
        if (step.phase == Phase::epoch) steps.push_back(&step);
    }
    return steps;
}

// Reports of earlier versions do not say, and then the step is taken to do nothing.
bool drops_features(const RunReport& report) { return report.settings && report.settings->input_dropout > 0; }

// Keeps the largest floor of a step over the ranks.
void take_larger(StepFloor& largest, const StepFloor& of_rank) {
    const double reuse = std::max(largest.bytes_with_reuse, of_rank.bytes_with_reuse);
    if (of_rank.seconds() > largest.seconds()) largest = of_rank;
    largest.bytes_with_reuse = reuse;
}

bool costs_nothing_fused(const Step& step) { return part_of(step.operation) == ModelPart::elementwise; }

}  // namespace

const Candidate& chosen(const Plan& plan, const RunReport& report) {
    return plan.candidates.at(static_cast<std::size_t>(report.chosen));
}

void check_report(const Plan& plan, const RunReport& report, const std::string& report_file) {
    const auto refuse = [&](ErrorCode code, const char* what, const char* hint) {
        throw Error(code, what, report_file, hint);
    };
    if (report.fingerprints.content != plan.fingerprints.content)
        refuse(ErrorCode::mismatch, "the run is of another plan", "name the plan that it ran");
    if (report.task != Task::train)
        refuse(ErrorCode::mismatch, "the run is an inference, which has no epochs",
               "name the report of a training run");
    if (report.backend != "cpu")
        refuse(ErrorCode::mismatch, "the run was on an accelerator, whose peaks are not measured here",
               "name the report of a run on processors");
    if (report.oversubscribed)
        refuse(ErrorCode::mismatch, "the run had more threads than processing units, so that its steps took turns",
               "run again with fewer ranks or threads");
    if (report.steps.empty())
        refuse(ErrorCode::data, "the report has no measured steps", "train for at least one whole epoch");
    const bool known = report.chosen >= 0 && static_cast<std::size_t>(report.chosen) < plan.candidates.size();
    if (!known) refuse(ErrorCode::data, "the candidate that trained is not in the plan", "run the plan again");
    const std::vector<const Step*> steps = epoch_steps(chosen(plan, report).schedule);
    const bool same = std::ranges::equal(steps, report.steps, {}, &Step::name, &StepRecord::name);
    if (!same) refuse(ErrorCode::data, "its steps are not those of the plan", "run the plan again");
}

EpochFloor lay_beside(const Plan& plan, const RunReport& report, const GraphStats& graph, const Peaks& peaks) {
    const Schedule& schedule = chosen(plan, report).schedule;
    EpochFloor epoch;
    epoch.measured = report.measured.epoch_seconds;
    for (const StepRecord& record : report.steps) {
        const double waiting = record.advance_seconds > 0 ? record.measured_seconds - record.advance_seconds : 0;
        epoch.rows.push_back({record.name, record.kind, {}, record.measured_seconds, std::max(0.0, waiting)});
    }
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        const std::vector<StepAccesses> accesses = accesses_of(schedule, graph, rank, drops_features(report));
        double sum = 0, fused = 0, with_reuse = 0;
        std::size_t row = 0;
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            const Step& step = schedule.steps[i];
            if (step.phase != Phase::epoch) continue;
            const StepFloor floor = floor_of(schedule, step, accesses[i], graph, rank, peaks);
            sum += floor.seconds();
            with_reuse += floor.seconds_with_reuse();
            if (!costs_nothing_fused(step)) fused += floor.seconds();
            take_larger(epoch.rows[row++].floor, floor);
        }
        epoch.sum = std::max(epoch.sum, sum);
        epoch.fused = std::max(epoch.fused, fused);
        epoch.sum_with_reuse = std::max(epoch.sum_with_reuse, with_reuse);
    }
    return epoch;
}

void sort_by_excess(EpochFloor& epoch) {
    std::ranges::stable_sort(epoch.rows, std::ranges::greater{}, &FloorRow::excess);
}

}  // namespace gnnplan::bench
