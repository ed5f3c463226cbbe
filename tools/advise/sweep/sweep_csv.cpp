#include "tools/advise/sweep/sweep_csv.hpp"
#include "planner/io/enum_names.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/evidence.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/advise/sweep/sweep_printed.hpp"

#include <fmt/format.h>

#include <array>

namespace gnnplan::tools {
namespace {

constexpr std::array<const char*, 19> best_keys{"best_scheme",
                                                "best_grid",
                                                "best_replication",
                                                "best_forward",
                                                "best_backward",
                                                "best_kept",
                                                "best_exchange",
                                                "best_overlap",
                                                "best_permutation",
                                                "epoch_seconds",
                                                "total_bytes",
                                                "max_rank_bytes",
                                                "peak_bytes_per_rank",
                                                "redistribution_units",
                                                "sparse_units",
                                                "loading_seconds",
                                                "setup_seconds",
                                                "choices",
                                                "why"};

std::string machine_text(const Setting& setting) {
    return setting.number ? fmt::format("{}", *setting.number) : setting.text;
}

std::vector<std::string> setting_cells(const Sweep& sweep, const SweepPoint& point) {
    std::vector<std::string> cells;
    for (std::size_t v = 0; v < point.at.size(); ++v) {
        cells.push_back(machine_text(sweep.variations[v].settings[point.at[v]]));
    }
    return cells;
}

constexpr std::array<const char*, 8> more_keys{
    "speed_up",     "efficiency",          "needed_bytes_per_rank", "other_feature_dropout",
    "other_scheme", "other_epoch_seconds", "least_seconds",         "most_seconds"};

// The values of more_keys, in their order. Those named "other" are of the answer where runs treat their features
// otherwise.
std::vector<std::string> more_values(const Sweep& sweep, const SweepPoint& point,
                                     const std::optional<Scaling>& scaling) {
    std::vector<std::string> cells{scaling ? fmt::format("{}", scaling->speed_up) : "",
                                   scaling ? fmt::format("{}", scaling->efficiency) : "",
                                   point.over_memory() ? std::to_string(point.needed_bytes) : ""};
    cells.resize(more_keys.size());
    if (point.otherwise) {
        cells[3] = sweep.problem.run.drops_features() ? "off" : "on";
        cells[4] = scheme_of(point.otherwise->configuration);
        cells[5] = fmt::format("{}", point.otherwise->predicted.epoch_seconds);
    }
    if (!point.best) return cells;
    const Prediction& predicted = point.best->predicted;
    if (const auto factors = time_factors(predicted, sweep.machine_of(point), sweep.problem.task)) {
        cells[6] = fmt::format("{}", factors->least * predicted.shown_seconds());
        cells[7] = fmt::format("{}", factors->most * predicted.shown_seconds());
    }
    return cells;
}

// The values of best_keys, in their order.
std::vector<std::string> csv_values(const SweepPoint& point) {
    if (!point.best) {
        std::vector<std::string> cells(best_keys.size());
        cells.back() = point.why;
        return cells;
    }
    const Configuration& c = point.best->configuration;
    const Prediction& p = point.best->predicted;
    const Units& units = point.best->executed;
    return {scheme_of(c),
            c.grid.text(),
            std::to_string(replication_of(c)),
            text(c.forward),
            text(c.backward),
            fmt::format("{}", fmt::join(kept_products(c), ",")),
            std::string(io::name_of(c.exchange)),
            c.overlap ? "true" : "false",
            c.permutation ? "true" : "false",
            fmt::format("{}", p.epoch_seconds),
            std::to_string(p.total_bytes),
            std::to_string(p.max_rank_bytes),
            std::to_string(p.peak_bytes_per_rank),
            fmt::format("{}", units.redistribution),
            fmt::format("{}", units.sparse),
            fmt::format("{}", p.loading.total()),
            fmt::format("{}", p.setup_seconds),
            choices_text(c),
            ""};
}

// A figure as printed, or "OOM" or "ran", and its prediction.
std::vector<std::string> printed_values(const Sweep& sweep, const SweepPoint& point) {
    const auto predicted = predicted_as_printed(sweep, point);
    return {point.printed > 0 ? fmt::format("{}", point.printed) : printed_text(sweep, point),
            predicted ? fmt::format("{}", *predicted) : ""};
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (&cell == &cells.front() ? "" : ",") + csv_cell(cell);
    return line + "\n";
}

}  // namespace

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string sweep_csv(const Sweep& sweep) {
    std::vector<std::string> header;
    for (const Variation& variation : sweep.variations) header.push_back(variation.key);
    header.insert(header.end(), best_keys.begin(), best_keys.end());
    header.insert(header.end(), more_keys.begin(), more_keys.end());
    if (sweep.published != nullptr) header.insert(header.end(), {"printed", "predicted_as_printed"});
    std::string csv = csv_line(header);
    const std::vector<std::optional<Scaling>> scaling = scaling_of(sweep);
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
        const SweepPoint& point = sweep.points[i];
        std::vector<std::string> cells = setting_cells(sweep, point);
        for (std::string& cell : csv_values(point)) cells.push_back(std::move(cell));
        for (std::string& cell : more_values(sweep, point, scaling[i])) cells.push_back(std::move(cell));
        if (sweep.published != nullptr) {
            for (std::string& cell : printed_values(sweep, point)) cells.push_back(std::move(cell));
        }
        csv += csv_line(cells);
    }
    return csv;
}

}  // namespace gnnplan::tools
