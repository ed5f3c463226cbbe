// Reading guide: sweep_panels() splits the lines of a sweep into facets of a few lines each (facets_of). A SweepDrawing
// makes a panel of times for each facet, with bands of the model's error and the ideal speed-up, and a panel of fronts
// of time and memory. plot.cpp draws panels as SVG and knows no sweep.
#include "tools/gnnplan/sweep_plot.hpp"
#include "tools/advise/evidence.hpp"

#include "planner/cost/tie.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/advise/sweep/sweep_sentences.hpp"
#include "tools/advise/sweep/sweep_units.hpp"
#include "tools/gnnplan/plot_scale.hpp"
#include "tools/gnnplan/sweep_facets.hpp"
#include "tools/text/format.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_named_ticks = 10;
constexpr std::size_t most_limits = 4;
constexpr const char* only_series = "the best plan";

struct DisplayUnits {
    Unit time, memory;
};

class SweepDrawing {
public:
    SweepDrawing(const Sweep& sweep, const std::optional<std::size_t>& main) : sweep_(sweep), main_(main) {
        double seconds = 0, bytes = 0;
        for (const SweepPoint& point : sweep.points) {
            for (const RankedConfiguration& r : point.pareto) {
                seconds = std::max(seconds, r.predicted.shown_seconds());
                bytes = std::max(bytes, static_cast<double>(r.predicted.peak_bytes_per_rank));
            }
        }
        units_ = {time_unit(seconds), memory_unit(bytes)};
        if (!main) return;
        axis_ = axis_of(sweep.variations[*main]);
        races_ = races_of(sweep);
        for (const Race& race : races_) {
            for (const Contest& contest : race.contests) {
                const bool rivals = along_ranks() || contest.entries.size() > 1;
                if (rivals) chosen_.insert(along_ranks() ? race.fastest() : contest.fastest());
            }
        }
    }

    PlotPanel time_panel(const Facet& facet) const {
        const std::string what = sweep_.task() == Task::infer ? "Load + pass" : "Epoch";
        PlotPanel panel{what + " time of the best plan" + (facet.title.empty() ? "" : ", " + facet.title),
                        {axis_.title},
                        {fmt::format("{} [{}]", ranked_time_name(sweep_.task()), units_.time.name)},
                        {}};
        for (const SweepLine& line : facet.lines) panel.series.push_back(time_series(line, facet));
        if (!axis_.numbers || axis_.positions.size() <= most_named_ticks) {
            for (std::size_t i = 0; i < axis_.positions.size(); ++i) {
                panel.x.ticks.push_back({axis_.positions[i], axis_.texts[i]});
            }
        }
        choose_logs(panel, axis_.numbers);
        for (const Race& race : races_) {
            if (!shows(facet, race)) continue;
            panel.bands.push_back(band(race));
            if (along_ranks()) panel.series.push_back(ideal(race));
        }
        return panel;
    }

    PlotPanel front_panel(const std::vector<Facet>& facets) const {
        PlotPanel panel{"Pareto front of time and memory",
                        {fmt::format("peak memory per rank [{}]", units_.memory.name)},
                        {fmt::format("{} [{}]", ranked_time_name(sweep_.task()), units_.time.name)},
                        {}};
        std::vector<std::pair<const SweepPoint*, std::string>> shown;
        if (!main_) {
            shown.emplace_back(&sweep_.points.front(), only_series);
        } else if (facets.size() == 1 && facets.front().lines.size() == 1) {
            shown = fronts_along(facets.front().lines.front());
        } else {
            shown = fronts_across(facets.back(), panel.title);
        }
        const SweepPoint* fastest = nullptr;
        for (const auto& [point, name] : shown) fastest = faster(fastest, point);
        std::set<std::int64_t> limits;
        for (const auto& [point, name] : shown) {
            if (point->memory_limit > 0) limits.insert(point->memory_limit);
            if (point->best) panel.series.push_back(front(*point, name, point == fastest || !rivals(shown)));
        }
        if (limits.size() <= most_limits) {
            for (const std::int64_t bytes : limits)
                panel.limits.push_back(
                    {static_cast<double>(bytes) / units_.memory.size, "limit " + format_memory(bytes)});
        }
        choose_logs(panel, true);
        return panel;
    }

private:
    bool along_ranks() const { return sweep_.variations[*main_].name == "ranks"; }

    std::string label(const RankedConfiguration& ranked) const {
        return fmt::format("{}: {}, {} per rank", configuration_text(ranked.configuration),
                           format_seconds(ranked.predicted.shown_seconds(), sweep_.machine),
                           format_memory(ranked.predicted.peak_bytes_per_rank));
    }

    std::string name_of(const SweepLine& line, const Facet& facet) const {
        const std::string text = short_text(sweep_.variations, line.others, {*main_, facet.by.value_or(*main_)});
        return text.empty() ? only_series : text;
    }

    PlotSeries time_series(const SweepLine& line, const Facet& facet) const {
        PlotSeries series{name_of(line, facet), {}, axis_.numbers ? PlotLine::straight : PlotLine::none};
        for (const SweepPoint* point : line.points) {
            const double x = axis_.positions[point->at[*main_]];
            if (point->best) {
                series.points.push_back(
                    {x, seconds_of(*point) / units_.time.size, label(*point->best), chosen_.contains(point)});
            } else if (point->over_memory()) {
                series.missing.push_back({x, 0, point->why});
            }
        }
        return series;
    }

    // Whether one of the race's lines is among the facet's.
    bool shows(const Facet& facet, const Race& race) const {
        return std::any_of(facet.lines.begin(), facet.lines.end(), [&](const SweepLine& line) {
            for (std::size_t v = 0; v < line.others.size(); ++v) {
                if (v != *main_ && !is_alternative(sweep_.variations[v]) && line.others[v] != race.others[v])
                    return false;
            }
            return true;
        });
    }

    // Between the fastest and what is a tie with it; of a race without rivals, the times that are a tie with its own.
    PlotBand band(const Race& race) const {
        const double factor = 1 + cost::model_error(sweep_.machine);
        const std::string error = tie_text(sweep_.machine);
        const bool rivals = race.competitors.size() > 1;
        PlotBand band{(rivals ? "a tie with the fastest, within " : "a tie, within ") + error, {}};
        for (const Contest& contest : race.contests) {
            const SweepPoint* fastest = contest.fastest();
            if (fastest == nullptr) continue;
            const double y = seconds_of(*fastest) / units_.time.size;
            if (race_axis(sweep_.variations)) {
                band.spans.push_back({axis_.positions[contest.setting], rivals ? y : y / factor, y * factor});
            } else {
                const auto [least, most] = std::minmax_element(axis_.positions.begin(), axis_.positions.end());
                for (const double x : {*least, *most}) band.spans.push_back({x, y, y * factor});
            }
        }
        return band;
    }

    PlotSeries ideal(const Race& race) const {
        PlotSeries series{"ideal scaling", {}, PlotLine::reference};
        std::optional<double> rank_seconds;
        for (const Contest& contest : race.contests) {
            const double ranks = axis_.positions[contest.setting];
            const SweepPoint* fastest = contest.fastest();
            if (!rank_seconds && fastest != nullptr) rank_seconds = seconds_of(*fastest) / units_.time.size * ranks;
            if (rank_seconds) series.points.push_back({ranks, *rank_seconds / ranks, ""});
        }
        return series;
    }

    // There is one for each setting of the main variation; for every other one, or fewer, where there are too many.
    std::vector<std::pair<const SweepPoint*, std::string>> fronts_along(const SweepLine& line) const {
        std::vector<std::pair<const SweepPoint*, std::string>> shown;
        const std::size_t stride = (line.points.size() + most_series - 1) / most_series;
        for (std::size_t i = (line.points.size() - 1) % stride; i < line.points.size(); i += stride) {
            shown.emplace_back(line.points[i], place_text(sweep_.variations[*main_], line.points[i]->at[*main_]));
        }
        return shown;
    }

    // The fronts of all lines at one setting of the main variation, which is added to the title.
    std::vector<std::pair<const SweepPoint*, std::string>> fronts_across(const Facet& facet, std::string& title) const {
        std::size_t at = facet.lines.front().points.size() - 1;
        if (along_ranks()) {
            const SweepPoint* fastest = nullptr;
            for (const SweepLine& line : facet.lines) {
                for (std::size_t i = 0; i < line.points.size(); ++i) {
                    if (faster(fastest, line.points[i]) == fastest) continue;
                    fastest = line.points[i];
                    at = i;
                }
            }
        }
        std::vector<std::pair<const SweepPoint*, std::string>> shown;
        for (const SweepLine& line : facet.lines) shown.emplace_back(line.points[at], name_of(line, facet));
        title += ", " + place_text(sweep_.variations[*main_], shown.front().first->at[*main_]);
        if (!facet.title.empty()) title += ", " + facet.title;
        return shown;
    }

    // Whether the points are answers to one problem on one number of ranks.
    bool rivals(const std::vector<std::pair<const SweepPoint*, std::string>>& shown) const {
        const SweepPoint& first = *shown.front().first;
        return std::all_of(shown.begin(), shown.end(), [&](const auto& other) {
            for (std::size_t v = 0; v < first.at.size(); ++v) {
                if (!is_alternative(sweep_.variations[v]) && other.first->at[v] != first.at[v]) return false;
            }
            return true;
        });
    }

    PlotSeries front(const SweepPoint& point, const std::string& name, bool chosen) const {
        PlotSeries series{name, {}, PlotLine::steps};
        for (const RankedConfiguration& r : point.pareto) {
            series.points.push_back({static_cast<double>(r.predicted.peak_bytes_per_rank) / units_.memory.size,
                                     r.predicted.shown_seconds() / units_.time.size, label(r)});
        }
        if (chosen && !series.points.empty()) series.points.back().chosen = true;
        return series;
    }

    const Sweep& sweep_;
    std::optional<std::size_t> main_;
    DisplayUnits units_{};
    VariationAxis axis_;
    std::vector<Race> races_;
    std::set<const SweepPoint*> chosen_;
};

}  // namespace

std::vector<PlotPanel> sweep_panels(const Sweep& sweep) {
    const std::optional<std::size_t> main = main_variation(sweep.variations);
    const SweepDrawing drawing(sweep, main);
    const std::vector<Facet> facets = main ? facets_of(sweep, *main) : std::vector<Facet>{};
    std::vector<PlotPanel> panels;
    panels.reserve(facets.size() + 1);
    for (const Facet& facet : facets) panels.push_back(drawing.time_panel(facet));
    panels.push_back(drawing.front_panel(facets));
    return panels;
}

}  // namespace gnnplan::tools
