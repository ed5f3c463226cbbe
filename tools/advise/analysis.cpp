#include "tools/advise/analysis.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace gnnplan::tools {
namespace {

constexpr std::size_t worst_steps = 3;
constexpr double worth_naming = 0.05;  // of the sum of absolute errors

StepAnalysis step_of(const StepRecord& record) {
    StepAnalysis step;
    step.name = record.name;
    step.kind = record.kind;
    step.origin = record.origin;
    step.work = work_of(record.kind, record.counted_bytes);
    step.rows = record.rows;
    step.columns = record.columns;
    step.bytes = record.counted_bytes;
    for (const std::int64_t bytes : record.counted_bytes_by_rank) {
        step.max_rank_bytes = std::max(step.max_rank_bytes, bytes);
    }
    step.seconds = {record.predicted_seconds, record.measured_seconds};
    return step;
}

// Each step's share of the absolute error, and the worst ones numbered: by seconds, since a step of a microsecond may
// be off tenfold without harm.
void mark_worst(std::vector<StepAnalysis>& steps) {
    const double all = std::accumulate(steps.begin(), steps.end(), 0.0, [](double sum, const StepAnalysis& step) {
        return sum + std::abs(step.seconds.error());
    });
    if (!(all > 0)) return;
    std::vector<StepAnalysis*> order;
    order.reserve(steps.size());
    for (StepAnalysis& step : steps) {
        step.share = std::abs(step.seconds.error()) / all;
        order.push_back(&step);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->share > b->share; });
    for (std::size_t i = 0; i < std::min(worst_steps, order.size()); ++i) {
        if (i == 0 || order[i]->share >= worth_naming) order[i]->worst = static_cast<int>(i) + 1;
    }
}

std::vector<WorkTotal> totals_of(const std::vector<StepAnalysis>& steps) {
    std::array<WorkTotal, work_kinds> by_work;
    for (const StepAnalysis& step : steps) {
        WorkTotal& total = by_work[static_cast<std::size_t>(step.work)];
        total.work = step.work;
        ++total.steps;
        total.bytes += step.bytes;
        total.seconds.predicted += step.seconds.predicted;
        total.seconds.measured += step.seconds.measured;
    }
    std::vector<WorkTotal> totals;
    std::copy_if(by_work.begin(), by_work.end(), std::back_inserter(totals),
                 [](const WorkTotal& total) { return total.steps > 0; });
    std::stable_sort(totals.begin(), totals.end(),
                     [](const WorkTotal& a, const WorkTotal& b) { return a.seconds.measured > b.seconds.measured; });
    return totals;
}

// Nobody predicts it of training, where it is spread over all epochs.
std::vector<SetupAnalysis> setup_of(const RunReport& report) {
    std::vector<SetupAnalysis> setup;
    if (report.task != Task::infer) return setup;
    for (const StepRecord& record : report.setup)
        setup.push_back({record.name, record.counted_bytes, {record.predicted_seconds, record.measured_seconds}});
    return setup;
}

}  // namespace

Work work_of(std::string_view kind, std::int64_t bytes) {
    if (kind == "spmm") return bytes > 0 ? Work::spmm_exchange : Work::spmm;
    if (kind == "gemm" || kind == "ring_gemm" || kind == "weight_grad") return Work::gemm;
    if (kind == "update") return Work::optimiser;
    constexpr std::array<std::string_view, 4> communication{"redistribute", "reduce_scatter", "all_reduce", "index"};
    const bool moves = std::ranges::find(communication, kind) != communication.end();
    return moves ? Work::communication : Work::elementwise;
}

std::string_view text_of(Work work) {
    constexpr std::array<std::string_view, work_kinds> texts{"communication", "SpMM + exchange", "SpMM",
                                                             "GEMM",          "elementwise",     "optimiser"};
    return texts.at(static_cast<std::size_t>(work));
}

std::string_view key_of(Work work) {
    constexpr std::array<std::string_view, work_kinds> keys{"communication", "spmm_exchange", "spmm",
                                                            "gemm",          "elementwise",   "optimiser"};
    return keys.at(static_cast<std::size_t>(work));
}

std::optional<double> TimePair::ratio() const {
    if (!(predicted > 0)) return std::nullopt;
    return measured / predicted;
}

Analysis analyse(const RunReport& report, const std::optional<ProfileOrigin>& profile) {
    if (report.steps.empty()) {
        throw Error(ErrorCode::data, "the report has no steps to analyse", {},
                    report.resumed_after ? "the run was resumed after its end, and trained nothing" : "");
    }
    Analysis analysis;
    analysis.epoch = {report.predicted.epoch_seconds, report.measured.epoch_seconds};
    analysis.calibrated = !profile || profile->measured;
    if (report.batches)
        analysis.batches = {report.batches->predicted_seconds,
                            report.batches->draw_seconds + report.batches->cut_seconds};
    double steps = analysis.batches ? analysis.batches->measured : 0;
    analysis.steps.reserve(report.steps.size());
    for (const StepRecord& record : report.steps) {
        analysis.steps.push_back(step_of(record));
        steps += record.measured_seconds;
    }
    analysis.waiting_seconds = std::max(0.0, steps - analysis.epoch.measured);
    analysis.outside_seconds = std::max(0.0, analysis.epoch.measured - steps);
    mark_worst(analysis.steps);
    analysis.totals = totals_of(analysis.steps);
    analysis.setup = setup_of(report);
    analysis.hint = hint_of(analysis, report, profile);
    return analysis;
}

}  // namespace gnnplan::tools
