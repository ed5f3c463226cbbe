#include "tools/gnnplan/sweep_output.hpp"
#include "tools/advise/evidence.hpp"

#include "planner/cost/likely.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/advise/sweep/sweep_printed.hpp"
#include "tools/advise/sweep/sweep_sentences.hpp"
#include "tools/text/format.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t reason_width = 30;

bool along_ranks(const Sweep& sweep) {
    const std::optional<std::size_t> axis = race_axis(sweep.variations);
    return axis && sweep.variations[*axis].name == "ranks";
}

bool has_pivot(const Sweep& sweep) {
    const std::vector<Race> races = races_of(sweep);
    return race_axis(sweep.variations) && races.front().competitors.size() > 1;
}

std::string seconds_text(const Sweep& sweep, const SweepPoint& point) {
    return format_seconds(point.best->predicted.shown_seconds(), sweep.machine_of(point));
}

void append(std::vector<std::string>& cells, const std::vector<std::string>& more) {
    cells.insert(cells.end(), more.begin(), more.end());
}

std::vector<std::string> scaling_cells(const std::optional<Scaling>& scaling) {
    if (!scaling) return {"", ""};
    return {fmt::format("{:.2f}", scaling->speed_up), fmt::format("{:.0f} %", 100 * scaling->efficiency)};
}

// "*9.2 ms", "~9.8 ms", "40 ms", "OOM", "-".
std::string pivot_cell(const Sweep& sweep, const SweepPoint& point, const SweepPoint* fastest) {
    if (!point.best) return point.over_memory() ? "OOM" : "-";
    const bool tie = cost::tie(point.best->predicted, fastest->best->predicted, sweep.machine_of(point));
    return (&point == fastest ? "*" : tie ? "~" : "") + seconds_text(sweep, point);
}

// The competitor that figures are printed of, or one behind the last.
std::size_t printed_competitor(const Race& race) {
    for (const Contest& contest : race.contests) {
        const auto found = std::ranges::find_if(
            contest.entries, [](const SweepPoint* entry) { return entry->printed != catalog::nothing_printed; });
        if (found != contest.entries.end()) return static_cast<std::size_t>(found - contest.entries.begin());
    }
    return race.competitors.size();
}

void add_printed_columns(std::vector<Column>& columns, const std::string& of) {
    columns.insert(columns.end(), {{of + "printed", Align::right}, {"predicted/printed", Align::right}});
}

std::vector<std::string> printed_cells(const Sweep& sweep, const SweepPoint& point) {
    return {printed_text(sweep, point), printed_ratio_text(sweep, point)};
}

Table pivot(const Sweep& sweep, const Race& race, bool with_scaling) {
    const Variation& axis = sweep.variations[*race_axis(sweep.variations)];
    std::vector<Column> columns{{axis.name, Align::right}};
    for (const std::string& competitor : race.competitors) columns.push_back({competitor, Align::right});
    const std::size_t printed = printed_competitor(race);
    if (printed < race.competitors.size()) add_printed_columns(columns, race.competitors[printed] + " ");
    if (with_scaling) columns.insert(columns.end(), {{"speed-up", Align::right}, {"efficiency", Align::right}});
    Table table(columns);
    const std::vector<std::optional<Scaling>> scaling = scaling_of(sweep, race);
    for (std::size_t i = 0; i < race.contests.size(); ++i) {
        const Contest& contest = race.contests[i];
        const SweepPoint* fastest = contest.fastest();
        std::vector<std::string> cells{axis.settings[contest.setting].text};
        for (const SweepPoint* entry : contest.entries) cells.push_back(pivot_cell(sweep, *entry, fastest));
        if (printed < contest.entries.size()) append(cells, printed_cells(sweep, *contest.entries[printed]));
        if (with_scaling) append(cells, scaling_cells(scaling[i]));
        table.add(std::move(cells), with_scaling && fastest != nullptr && fastest == race.fastest());
    }
    return table;
}

std::vector<NamedTable> pivots(const Sweep& sweep) {
    std::vector<std::size_t> skip{*race_axis(sweep.variations)};
    for (std::size_t v = 0; v < sweep.variations.size(); ++v) {
        if (is_alternative(sweep.variations[v])) skip.push_back(v);
    }
    std::vector<NamedTable> tables;
    for (const Race& race : races_of(sweep)) {
        tables.push_back({short_text(sweep.variations, race.others, skip), pivot(sweep, race, along_ranks(sweep))});
    }
    return tables;
}

// The fastest of those that compute the same problem, where there are several.
std::set<const SweepPoint*> best_points(const Sweep& sweep) {
    std::set<const SweepPoint*> best;
    for (const Race& race : races_of(sweep)) {
        if (along_ranks(sweep)) {
            best.insert(race.fastest());
            continue;
        }
        for (const Contest& contest : race.contests) {
            if (contest.entries.size() > 1) best.insert(contest.fastest());
        }
    }
    return best;
}

std::string reason_of(const SweepPoint& point) {
    if (point.over_memory() && point.needed_bytes > 0) {
        return fmt::format("OOM: needs {}", format_memory(point.needed_bytes));
    }
    if (point.why.size() <= reason_width) return point.why;
    return point.why.substr(0, point.why.find_last_of(' ', reason_width)) + " ...";
}

// How much of a point the table tells: the less, the higher the level.
enum class Detail : char { all, without_kept, without_volume, without_orders };
constexpr std::array<Detail, 4> details{Detail::all, Detail::without_kept, Detail::without_volume,
                                        Detail::without_orders};

struct PointColumn {
    Column column;
    std::string (*text)(const Sweep&, const SweepPoint&);  // of a point that is planned
};

std::vector<PointColumn> point_columns(Detail detail, Task task) {
    std::vector<PointColumn> columns;
    const auto add = [&](const char* title, Align align, auto text) { columns.push_back({{title, align}, text}); };
    if (detail < Detail::without_orders) {
        add("forward", Align::left,
            [](const Sweep&, const SweepPoint& p) { return format_orders_cell(text(p.best->configuration.forward)); });
        if (task == Task::train) {
            add("backward", Align::left, [](const Sweep&, const SweepPoint& p) {
                return format_orders_cell(text(p.best->configuration.backward));
            });
        }
    }
    if (detail < Detail::without_kept && task == Task::train) {
        add("kept", Align::left,
            [](const Sweep&, const SweepPoint& p) { return kept_text(products_kept(p.best->configuration)); });
    }
    if (detail < Detail::without_volume) {
        add(task == Task::infer ? "volume" : "volume/epoch", Align::right,
            [](const Sweep&, const SweepPoint& p) { return format_bytes(p.best->predicted.total_bytes); });
    }
    add("peak/rank", Align::right,
        [](const Sweep&, const SweepPoint& p) { return format_memory(p.best->predicted.peak_bytes_per_rank); });
    return columns;
}

std::string chosen_text(const SweepPoint& point, bool reasons_in_full) {
    if (!point.best) return reasons_in_full ? point.why : reason_of(point);
    const Configuration& chosen = point.best->configuration;
    return scheme_of(chosen) + " " + chosen.grid.text();
}

// A row per point: settings, time, speed-up where ranks vary, what was chosen, then `columns`.
Table point_table(const Sweep& sweep, const std::vector<PointColumn>& more, bool reasons_in_full) {
    std::vector<Column> columns;
    std::vector<std::size_t> shown;
    for (std::size_t v = 0; v < sweep.variations.size(); ++v) {
        if (sweep.variations[v].settings.size() < 2 && !reasons_in_full) continue;
        shown.push_back(v);
        columns.push_back({sweep.variations[v].name, Align::right});
    }
    columns.push_back({ranked_time_name(sweep.task()), Align::right});
    const bool ranks = along_ranks(sweep);
    if (ranks) columns.insert(columns.end(), {{"speed-up", Align::right}, {"efficiency", Align::right}});
    if (sweep.published != nullptr) add_printed_columns(columns, "");
    columns.push_back({"chosen"});
    for (const PointColumn& column : more) columns.push_back(column.column);
    Table table(columns);
    const std::set<const SweepPoint*> best = best_points(sweep);
    const std::vector<std::optional<Scaling>> scaling = scaling_of(sweep);
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
        const SweepPoint& point = sweep.points[i];
        const bool emphasised = point.best && best.contains(&point);
        std::vector<std::string> cells;
        cells.reserve(shown.size() + 1);
        for (const std::size_t v : shown) cells.push_back(sweep.variations[v].settings[point.at[v]].text);
        cells.push_back(point.best ? (emphasised ? "*" : "") + seconds_text(sweep, point) : "-");
        if (ranks) append(cells, scaling_cells(scaling[i]));
        if (sweep.published != nullptr) append(cells, printed_cells(sweep, point));
        cells.push_back(chosen_text(point, reasons_in_full));
        for (const PointColumn& column : more) cells.push_back(point.best ? column.text(sweep, point) : "");
        table.add(std::move(cells), emphasised);
    }
    return table;
}

bool fit(const std::vector<NamedTable>& tables, std::size_t width) {
    return std::all_of(tables.begin(), tables.end(), [&](const NamedTable& t) { return t.table.width() <= width; });
}

}  // namespace

std::vector<NamedTable> sweep_tables(const Sweep& sweep, std::size_t width) {
    if (has_pivot(sweep)) {
        std::vector<NamedTable> tables = pivots(sweep);
        if (fit(tables, width)) return tables;
    }
    for (const Detail detail : details) {
        Table table = point_table(sweep, point_columns(detail, sweep.task()), false);
        if (table.width() <= width || detail == details.back()) return {{"", std::move(table)}};
    }
    return {};
}

std::string marks_text(const Sweep& sweep, std::size_t width) {
    std::vector<std::string> marks;
    const bool pivots_shown = has_pivot(sweep) && fit(pivots(sweep), width);
    if (!best_points(sweep).empty() || pivots_shown) marks.emplace_back("* fastest");
    if (pivots_shown) {
        marks.push_back("~ a tie with it within " + tie_text(sweep.machine));
        const auto any = [&](const auto& is) { return std::any_of(sweep.points.begin(), sweep.points.end(), is); };
        if (any([](const SweepPoint& p) { return p.over_memory(); })) marks.emplace_back("OOM does not fit");
        if (any([](const SweepPoint& p) { return !p.best && !p.over_memory(); }))
            marks.emplace_back("- not applicable");
    }
    if (along_ranks(sweep)) {
        const std::string whose = pivots_shown ? " of the fastest" : "";
        marks.push_back(fmt::format("speed-up{} over the fewest ranks that fit", whose));
    }
    return fmt::format("{}", fmt::join(marks, ", "));
}

Table full_table(const Sweep& sweep) {
    std::vector<PointColumn> columns = point_columns(Detail::all, sweep.task());
    columns.push_back({{"SpMM", Align::right},
                       [](const Sweep&, const SweepPoint& p) { return format_number(p.best->executed.sparse); }});
    columns.push_back(
        {{"choices"}, [](const Sweep&, const SweepPoint& p) { return choices_text(p.best->configuration); }});
    return point_table(sweep, columns, true);
}

}  // namespace gnnplan::tools
