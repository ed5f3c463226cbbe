#include "tools/gnnplan/sweep_output.hpp"

#include "planner/io/enum_names.hpp"
#include "tools/common/format.hpp"
#include "tools/common/table.hpp"
#include "tools/gnnplan/configuration_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace gnnplan::tools {
namespace {

constexpr std::array<const char*, 17> best_keys{"best_scheme",
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
                                                "choices",
                                                "why"};

std::string machine_text(const Setting& setting) {
    return setting.number ? fmt::format("{}", *setting.number) : setting.text;
}

std::vector<std::string> setting_cells(const Sweep& sweep, const SweepPoint& point,
                                       const std::function<std::string(const Setting&)>& text_of) {
    std::vector<std::string> cells;
    for (std::size_t v = 0; v < point.at.size(); ++v) {
        cells.push_back(text_of(sweep.variations[v].settings[point.at[v]]));
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
    return {c.scheme,
            c.grid.text(),
            std::to_string(c.replication),
            text(c.forward),
            text(c.backward),
            fmt::format("{}", fmt::join(c.kept, ",")),
            std::string(io::name_of(c.exchange)),
            c.overlap ? "true" : "false",
            c.permutation ? "true" : "false",
            fmt::format("{}", p.epoch_seconds),
            std::to_string(p.total_bytes),
            std::to_string(p.max_rank_bytes),
            std::to_string(p.peak_bytes_per_rank),
            fmt::format("{}", units.redistribution),
            fmt::format("{}", units.sparse),
            choices_text(c),
            ""};
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (&cell == &cells.front() ? "" : ",") + csv_cell(cell);
    return line + "\n";
}

std::vector<std::string> table_cells(const SweepPoint& point) {
    if (!point.best) return {"-", "", "", "", "", "", "", "", ""};
    const Configuration& c = point.best->configuration;
    const Prediction& p = point.best->predicted;
    return {format_seconds(p.epoch_seconds),
            c.scheme + " " + c.grid.text(),
            format_orders_cell(text(c.forward)),
            format_orders_cell(text(c.backward)),
            kept_text(c),
            choices_text(c),
            format_bytes(p.total_bytes),
            format_number(point.best->executed.sparse),
            format_memory(p.peak_bytes_per_rank)};
}

const SweepPoint* fastest(const Sweep& sweep) {
    const SweepPoint* best = nullptr;
    for (const SweepPoint& point : sweep.points) {
        if (!point.best) continue;
        if (best == nullptr || point.best->predicted.epoch_seconds < best->best->predicted.epoch_seconds) best = &point;
    }
    return best;
}

}  // namespace

std::string sweep_table(const Sweep& sweep, bool color) {
    std::vector<Column> columns;
    for (const Variation& variation : sweep.variations) columns.push_back({variation.name, Align::right});
    columns.insert(columns.end(), {{"epoch", Align::right},
                                   {"chosen"},
                                   {"forward"},
                                   {"backward"},
                                   {"kept"},
                                   {"choices"},
                                   {"volume/epoch", Align::right},
                                   {"SpMM", Align::right},
                                   {"peak/rank", Align::right}});
    const bool all =
        std::all_of(sweep.points.begin(), sweep.points.end(), [](const auto& p) { return p.best.has_value(); });
    if (!all) columns.push_back({"why not"});
    Table table(columns);
    const SweepPoint* best = fastest(sweep);
    for (const SweepPoint& point : sweep.points) {
        std::vector<std::string> cells = setting_cells(sweep, point, [](const Setting& s) { return s.text; });
        for (std::string& cell : table_cells(point)) cells.push_back(std::move(cell));
        if (!all) cells.push_back(point.why);
        table.add(std::move(cells), &point == best);
    }
    return table.text(color);
}

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
    std::string csv = csv_line(header);
    for (const SweepPoint& point : sweep.points) {
        std::vector<std::string> cells = setting_cells(sweep, point, machine_text);
        for (std::string& cell : csv_values(point)) cells.push_back(std::move(cell));
        csv += csv_line(cells);
    }
    return csv;
}

}  // namespace gnnplan::tools
