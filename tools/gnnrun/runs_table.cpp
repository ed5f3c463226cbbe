#include "tools/gnnrun/runs_table.hpp"

#include "tools/gnnrun/progress.hpp"
#include "tools/text/format.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

std::string runs_table(const RunReport& report, bool color) {
    const std::vector<const Metric*> shown = shown_metrics(report.runs.back().judgement);
    std::vector<Column> columns{{"seed", Align::right}, {"epochs", Align::right}, {"best epoch", Align::right}};
    for (const Metric* by : shown) {
        const std::string suffix = by->sets == &Judgement::accuracy ? "" : " " + std::string(by->name);
        for (const char* set : {"train", "valid", "test"}) columns.push_back({set + suffix, Align::right});
    }
    Table table(columns);
    const auto percent = [](const std::optional<double>& share) {
        return share ? fmt::format("{:.2f} %", 100 * *share) : std::string("-");
    };
    for (const SeedRun& run : report.runs) {
        std::vector<std::string> row{std::to_string(run.seed), format_count(run.epochs),
                                     run.best ? format_count(*run.best) : "-"};
        for (const Metric* by : shown) {
            const SetScores& scores = run.judgement.*by->sets;
            for (const auto& score : {scores.train, scores.valid, scores.test}) row.push_back(percent(score));
        }
        table.add(row);
    }
    const auto spread = [](const std::optional<Spread>& of) {
        if (!of) return std::string("-");
        if (!of->deviation) return fmt::format("{:.2f} %", 100 * of->mean);
        return fmt::format("{:.2f} ± {:.2f} %", 100 * of->mean, 100 * *of->deviation);
    };
    std::vector<std::string> means{"mean", "", ""};
    for (const Metric* by : shown) {
        const Spreads& all = report.spreads[static_cast<std::size_t>(by - metrics.data())];
        for (const auto& of : {all.train, all.valid, all.test}) means.push_back(spread(of));
    }
    table.add(means, true);
    return table.text(color);
}

}  // namespace gnnplan::tools
