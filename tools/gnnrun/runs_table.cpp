#include "tools/gnnrun/runs_table.hpp"

#include "tools/text/format.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <optional>

namespace gnnplan::tools {

std::string runs_table(const RunReport& report, bool color) {
    Table table({{"seed", Align::right},
                 {"epochs", Align::right},
                 {"best epoch", Align::right},
                 {"train", Align::right},
                 {"valid", Align::right},
                 {"test", Align::right}});
    const auto percent = [](const std::optional<double>& share) {
        return share ? fmt::format("{:.2f} %", 100 * *share) : std::string("-");
    };
    for (const SeedRun& run : report.runs) {
        table.add({std::to_string(run.seed), format_count(run.epochs), run.best ? format_count(*run.best) : "-",
                   percent(run.accuracies.train), percent(run.accuracies.valid), percent(run.accuracies.test)});
    }
    const auto spread = [](const std::optional<Spread>& of) {
        if (!of) return std::string("-");
        if (!of->deviation) return fmt::format("{:.2f} %", 100 * of->mean);
        return fmt::format("{:.2f} ± {:.2f} %", 100 * of->mean, 100 * *of->deviation);
    };
    const AccuracySpreads& all = *report.spreads;
    table.add({"mean", "", "", spread(all.train), spread(all.valid), spread(all.test)}, true);
    return table.text(color);
}

}  // namespace gnnplan::tools
