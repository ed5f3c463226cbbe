#include "tools/gnnrun/runs_table.hpp"

#include "tools/gnnrun/progress.hpp"
#include "tools/text/format.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <optional>

namespace gnnplan::tools {

std::string runs_table(const RunReport& report, bool color) {
    const Metric& by = shown_metric(report.runs.back().judgement);
    const std::string suffix = by.sets == &Judgement::accuracy ? "" : " " + std::string(by.name);
    Table table({{"seed", Align::right},
                 {"epochs", Align::right},
                 {"best epoch", Align::right},
                 {"train" + suffix, Align::right},
                 {"valid" + suffix, Align::right},
                 {"test" + suffix, Align::right}});
    const auto percent = [](const std::optional<double>& share) {
        return share ? fmt::format("{:.2f} %", 100 * *share) : std::string("-");
    };
    for (const SeedRun& run : report.runs) {
        const SetScores& scores = run.judgement.*by.sets;
        table.add({std::to_string(run.seed), format_count(run.epochs), run.best ? format_count(*run.best) : "-",
                   percent(scores.train), percent(scores.valid), percent(scores.test)});
    }
    const auto spread = [](const std::optional<Spread>& of) {
        if (!of) return std::string("-");
        if (!of->deviation) return fmt::format("{:.2f} %", 100 * of->mean);
        return fmt::format("{:.2f} ± {:.2f} %", 100 * of->mean, 100 * *of->deviation);
    };
    const Spreads& all = report.spreads[static_cast<std::size_t>(&by - metrics.data())];
    table.add({"mean", "", "", spread(all.train), spread(all.valid), spread(all.test)}, true);
    return table.text(color);
}

}  // namespace gnnplan::tools
