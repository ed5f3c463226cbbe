#include "tools/gnnrun/summary.hpp"

#include "tools/common/format.hpp"
#include "tools/common/table.hpp"
#include "tools/gnnrun/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

struct KindTotal {
    std::string kind;
    int steps = 0;
    std::int64_t predicted_bytes = 0;
    std::int64_t counted_bytes = 0;
    double predicted_seconds = 0;
    double measured_seconds = 0;
};

void add(KindTotal& total, const StepRecord& step) {
    ++total.steps;
    total.predicted_bytes += step.predicted_bytes;
    total.counted_bytes += step.counted_bytes;
    total.predicted_seconds += step.predicted_seconds;
    total.measured_seconds += step.measured_seconds;
}

// Kinds by the time they took, longest first.
std::vector<KindTotal> totals_by_kind(const std::vector<StepRecord>& steps) {
    std::vector<KindTotal> totals;
    for (const StepRecord& step : steps) {
        auto total =
            std::find_if(totals.begin(), totals.end(), [&](const KindTotal& t) { return t.kind == step.kind; });
        if (total == totals.end()) {
            totals.push_back({.kind = step.kind});
            total = totals.end() - 1;
        }
        add(*total, step);
    }
    std::stable_sort(totals.begin(), totals.end(),
                     [](const KindTotal& a, const KindTotal& b) { return a.measured_seconds > b.measured_seconds; });
    return totals;
}

std::string ratio(double measured, double predicted) {
    return predicted > 0 ? fmt::format("{:.2f}", measured / predicted) : "-";
}

void add_row(Table& table, const KindTotal& total, bool emphasised) {
    table.add({total.kind, std::to_string(total.steps), format_bytes(total.predicted_bytes),
               format_bytes(total.counted_bytes), format_seconds(total.predicted_seconds),
               format_seconds(total.measured_seconds), ratio(total.measured_seconds, total.predicted_seconds)},
              emphasised);
}

std::string step_table(const RunReport& report, bool color) {
    Table table({{"step"},
                 {"count", Align::right},
                 {"bytes predicted", Align::right},
                 {"counted", Align::right},
                 {"time predicted", Align::right},
                 {"measured", Align::right},
                 {"ratio", Align::right}});
    for (const KindTotal& total : totals_by_kind(report.steps)) add_row(table, total, false);
    add_row(table,
            {"one epoch", static_cast<int>(report.steps.size()), report.predicted.total_bytes,
             report.measured.total_bytes, report.predicted.epoch_seconds, report.measured.epoch_seconds},
            true);
    return table.text(color);
}

// The step whose prediction is off by most seconds.
std::string worst_step(const std::vector<StepRecord>& steps) {
    const auto error = [](const StepRecord& s) { return std::abs(s.measured_seconds - s.predicted_seconds); };
    const auto worst = std::max_element(steps.begin(), steps.end(),
                                        [&](const StepRecord& a, const StepRecord& b) { return error(a) < error(b); });
    if (worst == steps.end()) return {};
    return fmt::format("worst step  {} ({} x {}): predicted {}, measured {}\n", worst->name, format_count(worst->rows),
                       format_count(worst->columns), format_seconds(worst->predicted_seconds),
                       format_seconds(worst->measured_seconds));
}

std::string peak_line(const RunReport& report) {
    const std::int64_t predicted = report.predicted.peak_bytes_per_rank;
    const std::int64_t measured = report.measured.peak_bytes_per_rank;
    return fmt::format("peak/rank   predicted {} bytes, measured {} bytes ({}){}\n", format_count(predicted),
                       format_count(measured), format_memory(measured), predicted == measured ? "" : "  NOT EQUAL");
}

std::string configuration_line(const RunReport& report) {
    const Configuration& c = report.configuration;
    std::string line =
        fmt::format("trained     candidate {}: forward {}, backward {}, grid {}, R_A {}", report.chosen + 1,
                    format_orders(text(c.forward)), format_orders(text(c.backward)), c.grid.text(), c.replication);
    if (!report.tried.empty()) {
        line += fmt::format("; best of {} tried", report.tried.size());
    }
    return line + "\n";
}

}  // namespace

std::string summary(const RunReport& report, bool color) {
    const EpochRecord& last = report.epochs.back();
    return bold(fmt::format("epoch {}    {}", last.epoch, describe(last)), color) + "\n" + configuration_line(report) +
           "\n" + step_table(report, color) + "\n" + worst_step(report.steps) + peak_line(report);
}

}  // namespace gnnplan::tools
