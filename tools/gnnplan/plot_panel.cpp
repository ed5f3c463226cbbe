#include "tools/gnnplan/plot_panel.hpp"

#include "tools/gnnplan/plot_draw.hpp"
#include "tools/gnnplan/plot_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr double top = 50, bottom = 56;  // margins in pixels
constexpr double missing_row = 24;       // above the axis, where something does not fit
constexpr double missing_step = 11;      // between crosses at one place, at most
constexpr double missing_share = 0.8;    // of the distance to the next place, that they take together at most
constexpr double faint = 0.12, strong = 0.8;
constexpr double far_limit = 3;  // times the largest x: beyond this a limit is not drawn to scale

class PanelDrawing {
public:
    PanelDrawing(const PlotPanel& panel, const std::vector<std::string>& names, double at, double down, std::size_t id)
        : panel_(panel), names_(names), id_(id) {
        std::vector<double> xs, ys;
        for (const PlotSeries& series : panel.series) {
            for (const PlotPoint& point : series.missing) xs.push_back(point.x);
            missing_ = missing_ || !series.missing.empty();
            if (series.line == PlotLine::reference) continue;
            for (const PlotPoint& point : series.points) {
                xs.push_back(point.x);
                ys.push_back(point.y);
            }
        }
        empty_ = ys.empty();
        places_ = xs;
        for (const PlotBand& band : panel.bands) {
            for (const PlotSpan& span : band.spans) ys.insert(ys.end(), {span.low, span.high});
        }
        for (const PlotTick& tick : panel.x.ticks) xs.push_back(tick.at);
        const double largest = xs.empty() ? 0 : *std::max_element(xs.begin(), xs.end());
        for (const PlotLimit& limit : panel.limits) {
            if (limit.at <= far_limit * largest) xs.push_back(limit.at);
        }
        const double above = top + (missing_ ? missing_row : 0);
        x_ = fit_scale(xs, panel.x.log, false, at + panel_left, at + panel_width - panel_right);
        y_ = fit_scale(ys, panel.y.log, true, down + panel_height - bottom, down + above);
        title_at_ = down + top - 24;
    }

    std::string svg() const {
        std::string out = frame();
        if (missing_) out += missing();
        if (empty_) return out + text_at((x_.begin + x_.end) / 2, (y_.begin + y_.end) / 2, "middle", "nothing fits");
        out += ticks() + limits();
        out += fmt::format(
            "<clipPath id=\"panel{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" height=\"{4:.1f}\"/>"
            "</clipPath>\n<g clip-path=\"url(#panel{0})\">\n",
            id_, x_.begin, y_.end, x_.end - x_.begin, y_.begin - y_.end);
        for (const PlotBand& band : panel_.bands) out += shaded(band);
        for (const PlotSeries& series : panel_.series) {
            if (series.line == PlotLine::reference) out += reference(series);
        }
        out += "</g>\n";
        for (const PlotSeries& series : panel_.series) {
            if (series.line != PlotLine::reference) out += curve(series);
        }
        return out;
    }

private:
    static std::string axis_title(const PlotAxis& axis) { return axis.title + (axis.log ? ", log" : ""); }

    std::string frame() const {
        const double middle = (x_.begin + x_.end) / 2;
        const double height = (y_.begin + y_.end) / 2;
        return text_at(middle, title_at_, "middle", panel_.title, " font-weight=\"bold\"") +
               text_at(middle, y_.begin + 42, "middle", axis_title(panel_.x)) +
               text_at(0, 0, "middle", axis_title(panel_.y),
                       fmt::format(" transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", x_.begin - panel_left + 16,
                                   height)) +
               thin_line(x_.begin, y_.begin, x_.end, y_.begin, strong) +
               thin_line(x_.begin, y_.begin, x_.begin, y_.end, strong);
    }

    std::string ticks() const {
        std::string out;
        for (const PlotTick& tick : panel_.x.ticks.empty() ? choose_ticks(x_) : panel_.x.ticks) {
            const double x = x_.pixel(tick.at);
            out += thin_line(x, y_.begin, x, y_.end, faint) + thin_line(x, y_.begin, x, y_.begin + 5, strong) +
                   text_at(x, y_.begin + 19, "middle", tick.text);
        }
        for (const PlotTick& tick : panel_.y.ticks.empty() ? choose_ticks(y_) : panel_.y.ticks) {
            const double y = y_.pixel(tick.at);
            out += thin_line(x_.begin, y, x_.end, y, faint) + thin_line(x_.begin - 5, y, x_.begin, y, strong) +
                   text_at(x_.begin - 9, y + 4, "end", tick.text);
        }
        for (const double minor : panel_.x.ticks.empty() ? minor_ticks(x_) : std::vector<double>{}) {
            out += thin_line(x_.pixel(minor), y_.begin, x_.pixel(minor), y_.begin + 3, strong);
        }
        for (const double minor : minor_ticks(y_)) {
            out += thin_line(x_.begin - 3, y_.pixel(minor), x_.begin, y_.pixel(minor), strong);
        }
        return out;
    }

    std::string limits() const {
        std::string out;
        for (const PlotLimit& limit : panel_.limits) {
            const double largest = x_.log ? x_.high * 1.001 : x_.high;
            if (limit.at > largest) {
                out += text_at(x_.end, y_.end - 3, "end", limit.text + " \u2192", " font-size=\"11\"");
                continue;
            }
            const double x = x_.pixel(limit.at);
            out += thin_line(x, y_.begin, x, y_.end, strong, "6 3") +
                   text_at(0, 0, "end", limit.text,
                           fmt::format(" font-size=\"11\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", x - 5,
                                       y_.end + 6));
        }
        return out;
    }

    // Pixels between the crosses of `count` series at x, so that they stay clear of those of the next place.
    double step_of_crosses(double x, std::size_t count) const {
        double room = x_.end - x_.begin;
        for (const double other : places_) {
            if (other != x) room = std::min(room, std::abs(x_.pixel(other) - x_.pixel(x)));
        }
        return std::min(missing_step, missing_share * room / static_cast<double>(count));
    }

    // One cross per series that has nothing there, side by side around the place.
    std::string missing() const {
        const double y = y_.end - missing_row / 2;
        std::string out = text_at(x_.begin - 6, y + 4, "end", "does not fit", " font-size=\"11\"");
        std::map<double, std::vector<std::pair<PlotStyle, std::string>>> crosses;
        for (const PlotSeries& series : panel_.series) {
            for (const PlotPoint& point : series.missing) crosses[point.x].emplace_back(style(series), point.label);
        }
        for (const auto& [at, here] : crosses) {
            const double step = step_of_crosses(at, here.size());
            double x = x_.pixel(at) - step * static_cast<double>(here.size() - 1) / 2;
            for (const auto& [style, label] : here) {
                out += cross(style, x, y, label);
                x += step;
            }
        }
        return out;
    }

    std::string shaded(const PlotBand& band) const {
        if (band.spans.empty()) return "";
        std::string path;
        for (const PlotSpan& span : band.spans) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_.pixel(span.x), y_.pixel(span.low));
        }
        for (auto span = band.spans.rbegin(); span != band.spans.rend(); ++span) {
            path += fmt::format("L{:.1f} {:.1f}", x_.pixel(span->x), y_.pixel(span->high));
        }
        return shade(path + "z");
    }

    std::string reference(const PlotSeries& series) const {
        std::string out;
        for (std::size_t i = 1; i < series.points.size(); ++i) {
            const PlotPoint &from = series.points[i - 1], &to = series.points[i];
            out += thin_line(x_.pixel(from.x), y_.pixel(from.y), x_.pixel(to.x), y_.pixel(to.y), strong, "2 4");
        }
        return out;
    }

    std::string curve(const PlotSeries& series) const {
        std::string path, points;
        for (const PlotPoint& point : series.points) {
            const double x = x_.pixel(point.x), y = y_.pixel(point.y);
            if (path.empty()) {
                path = fmt::format("M{:.1f} {:.1f}", x, y);
            } else if (series.line == PlotLine::steps) {
                path += fmt::format("H{:.1f}V{:.1f}", x, y);
            } else {
                path += fmt::format("L{:.1f} {:.1f}", x, y);
            }
            points += mark(style(series), x, y, point.label, point.chosen);
        }
        const bool line = series.line != PlotLine::none && !path.empty();
        return (line ? line_path(path, style(series)) : "") + points;
    }

    PlotStyle style(const PlotSeries& series) const {
        const auto n = std::find(names_.begin(), names_.end(), series.name);
        return style_of(static_cast<std::size_t>(n - names_.begin()));
    }

    const PlotPanel& panel_;
    const std::vector<std::string>& names_;
    std::size_t id_;
    PlotScale x_, y_;
    std::vector<double> places_;  // of points, on the x axis
    double title_at_ = 0;
    bool empty_ = false, missing_ = false;
};

}  // namespace

std::string draw_panel(const PlotPanel& panel, const std::vector<std::string>& names, double x, double y,
                       std::size_t id) {
    return PanelDrawing(panel, names, x, y, id).svg();
}

}  // namespace gnnplan::tools
