#include "tools/gnnplan/sweep_plot.hpp"

#include "tools/common/format.hpp"
#include "tools/gnnplan/configuration_text.hpp"
#include "tools/gnnplan/plot_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_named_ticks = 10;
constexpr const char* only_series = "best plan";

struct Unit {
    const char* name;
    double size;
};
constexpr std::array<Unit, 4> time_units{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
constexpr std::array<Unit, 4> memory_units{{{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}}};

// The largest unit that does not exceed the largest value.
template <std::size_t n>
Unit unit_for(const std::array<Unit, n>& units, double largest) {
    for (const Unit& unit : units) {
        if (largest >= unit.size) return unit;
    }
    return units.back();
}

struct DisplayUnits {
    Unit time, memory;
};

std::string label_of(const Ranked& ranked) {
    return fmt::format("{}: {}, {} per rank", configuration_text(ranked.configuration),
                       format_seconds(ranked.predicted.epoch_seconds),
                       format_memory(ranked.predicted.peak_bytes_per_rank));
}

// Positions of the settings on the axis: their numbers, or 0, 1, .. of names.
double position(const Variation& variation, std::size_t setting) {
    return variation.settings[setting].number.value_or(static_cast<double>(setting));
}

void choose_logs(PlotPanel& panel, bool x_numbers) {
    std::vector<double> xs, ys;
    for (const PlotSeries& series : panel.series) {
        for (const PlotPoint& point : series.points) {
            xs.push_back(point.x);
            ys.push_back(point.y);
        }
    }
    panel.x.log = x_numbers && wants_log(xs);
    panel.y.log = wants_log(ys);
}

std::string axis_title(const Variation& variation) {
    if (variation.name == "ranks") return "ranks";
    if (variation.name == "hidden") return "width of hidden layers";
    if (variation.name == "bandwidth") return "link bandwidth [B/s]";
    if (variation.name == "memory") return "memory per rank [B]";
    return variation.name;
}

PlotPanel time_panel(const Sweep& sweep, std::size_t main, const std::vector<SweepLine>& lines, const Unit& unit) {
    const Variation& variation = sweep.variations[main];
    PlotPanel panel{"Epoch time of the best plan", {axis_title(variation)}, {fmt::format("epoch [{}]", unit.name)}, {}};
    for (const SweepLine& line : lines) {
        const std::string others = settings_text(sweep.variations, line.others, {main});
        PlotSeries series{others.empty() ? only_series : others, {}};
        for (const SweepPoint* point : line.points) {
            if (!point->best) continue;
            series.points.push_back({position(variation, point->at[main]),
                                     point->best->predicted.epoch_seconds / unit.size, label_of(*point->best)});
        }
        panel.series.push_back(std::move(series));
    }
    const bool numbers = variation.settings.front().number.has_value();
    if (!numbers || variation.settings.size() <= most_named_ticks) {
        for (std::size_t i = 0; i < variation.settings.size(); ++i) {
            panel.x.ticks.push_back({position(variation, i), variation.settings[i].text});
        }
    }
    choose_logs(panel, numbers);
    return panel;
}

PlotSeries front_of(const SweepPoint& point, const std::string& name, const DisplayUnits& units) {
    PlotSeries series{name, {}, PlotLine::steps};
    for (const Ranked& r : point.pareto) {
        series.points.push_back({static_cast<double>(r.predicted.peak_bytes_per_rank) / units.memory.size,
                                 r.predicted.epoch_seconds / units.time.size, label_of(r)});
    }
    return series;
}

PlotPanel front_panel(const Sweep& sweep, const std::optional<std::size_t>& main, const std::vector<SweepLine>& lines,
                      const DisplayUnits& units) {
    PlotPanel panel{"Pareto front of time and memory",
                    {fmt::format("peak memory per rank [{}]", units.memory.name)},
                    {fmt::format("epoch [{}]", units.time.name)},
                    {}};
    if (!main) {
        panel.series.push_back(front_of(sweep.points.front(), only_series, units));
    } else if (lines.size() == 1) {
        for (const SweepPoint* point : lines.front().points) {
            panel.series.push_back(front_of(*point, settings_text(sweep.variations, point->at, {}), units));
        }
    } else {
        for (const SweepLine& line : lines) {
            panel.series.push_back(
                front_of(*line.points.back(), settings_text(sweep.variations, line.others, {*main}), units));
        }
        const SweepPoint& last = *lines.front().points.back();
        const Variation& variation = sweep.variations[*main];
        panel.title += fmt::format(" at {}={}", variation.name, variation.settings[last.at[*main]].text);
    }
    choose_logs(panel, true);
    return panel;
}

DisplayUnits units_of(const Sweep& sweep) {
    double seconds = 0, bytes = 0;
    for (const SweepPoint& point : sweep.points) {
        for (const Ranked& r : point.pareto) {
            seconds = std::max(seconds, r.predicted.epoch_seconds);
            bytes = std::max(bytes, static_cast<double>(r.predicted.peak_bytes_per_rank));
        }
    }
    return {unit_for(time_units, seconds), unit_for(memory_units, bytes)};
}

}  // namespace

std::vector<PlotPanel> sweep_panels(const Sweep& sweep) {
    const std::optional<std::size_t> main = main_variation(sweep.variations);
    const std::vector<SweepLine> lines = main ? lines_along(sweep, *main) : std::vector<SweepLine>{};
    const DisplayUnits units = units_of(sweep);
    std::vector<PlotPanel> panels;
    if (main) panels.push_back(time_panel(sweep, *main, lines, units.time));
    panels.push_back(front_panel(sweep, main, lines, units));
    return panels;
}

}  // namespace gnnplan::tools
