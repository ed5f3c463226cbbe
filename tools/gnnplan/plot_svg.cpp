#include "tools/gnnplan/plot_draw.hpp"
#include "tools/gnnplan/plot_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gnnplan::tools {
namespace {

// Pixels.
constexpr double panel_width = 560, panel_height = 400;
constexpr double left = 76, right = 24, top = 40, bottom = 56;  // margins of a panel
constexpr double header = 44, legend_row = 20, legend_column = 280, caption_row = 16;

// Names in the order in which they first appear.
std::vector<std::string> names_of(const std::vector<PlotPanel>& panels) {
    std::vector<std::string> names;
    for (const PlotPanel& panel : panels) {
        for (const PlotSeries& series : panel.series) {
            if (std::find(names.begin(), names.end(), series.name) == names.end()) names.push_back(series.name);
        }
    }
    return names;
}

class PanelDrawing {
public:
    PanelDrawing(const PlotPanel& panel, const std::vector<std::string>& names, double at)
        : panel_(panel), names_(names) {
        std::vector<double> xs, ys;
        for (const PlotSeries& series : panel.series) {
            for (const PlotPoint& point : series.points) {
                xs.push_back(point.x);
                ys.push_back(point.y);
            }
        }
        for (const PlotTick& tick : panel.x.ticks) xs.push_back(tick.at);
        empty_ = ys.empty();
        x_ = fit_scale(xs, panel.x.log, false, at + left, at + panel_width - right);
        y_ = fit_scale(ys, panel.y.log, true, header + panel_height - bottom, header + top);
    }

    std::string svg() const {
        std::string out = frame();
        if (empty_) return out + text_at((x_.begin + x_.end) / 2, (y_.begin + y_.end) / 2, "middle", "nothing fits");
        out += ticks();
        for (const PlotSeries& series : panel_.series) out += curve(series);
        return out;
    }

private:
    std::string frame() const {
        const double middle = (x_.begin + x_.end) / 2;
        const double height = (y_.begin + y_.end) / 2;
        return text_at(middle, y_.end - 14, "middle", panel_.title, " font-weight=\"bold\"") +
               text_at(middle, y_.begin + 42, "middle", panel_.x.title) +
               text_at(0, 0, "middle", panel_.y.title,
                       fmt::format(" transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", x_.begin - 56, height)) +
               thin_line(x_.begin, y_.begin, x_.end, y_.begin, "#333") +
               thin_line(x_.begin, y_.begin, x_.begin, y_.end, "#333");
    }

    std::string ticks() const {
        std::string out;
        for (const PlotTick& tick : panel_.x.ticks.empty() ? choose_ticks(x_) : panel_.x.ticks) {
            const double x = x_.pixel(tick.at);
            out += thin_line(x, y_.begin, x, y_.end, "#e4e4e4") + thin_line(x, y_.begin, x, y_.begin + 5, "#333") +
                   text_at(x, y_.begin + 19, "middle", tick.text);
        }
        for (const PlotTick& tick : panel_.y.ticks.empty() ? choose_ticks(y_) : panel_.y.ticks) {
            const double y = y_.pixel(tick.at);
            out += thin_line(x_.begin, y, x_.end, y, "#e4e4e4") + thin_line(x_.begin - 5, y, x_.begin, y, "#333") +
                   text_at(x_.begin - 9, y + 4, "end", tick.text);
        }
        return out;
    }

    std::string curve(const PlotSeries& series) const {
        if (series.points.empty()) return "";
        const auto n = std::find(names_.begin(), names_.end(), series.name);
        const PlotStyle style = style_of(static_cast<std::size_t>(std::distance(names_.begin(), n)));
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
            points += mark(style, x, y, point.label);
        }
        return line_path(path, style) + points;
    }

    const PlotPanel& panel_;
    const std::vector<std::string>& names_;
    PlotScale x_, y_;
    bool empty_ = false;
};

std::string legend(const std::vector<std::string>& names, double y, std::size_t columns) {
    std::string out;
    for (std::size_t n = 0; n < names.size(); ++n) {
        const double x = left + legend_column * static_cast<double>(n % columns);
        const std::size_t above = n / columns;
        const double row = y + legend_row * static_cast<double>(above);
        const PlotStyle style = style_of(n);
        out += line_path(fmt::format("M{:.1f} {:.1f}h30", x, row - 4), style) + mark(style, x + 15, row - 4, names[n]) +
               text_at(x + 38, row, "start", names[n]);
    }
    return out;
}

}  // namespace

std::string draw_svg(const std::string& title, const std::string& description, const std::vector<PlotPanel>& panels,
                     const std::vector<std::string>& caption) {
    const std::vector<std::string> names = names_of(panels);
    const double width = panel_width * static_cast<double>(std::max<std::size_t>(panels.size(), 1));
    const auto columns = static_cast<std::size_t>((width - left) / legend_column);
    const std::size_t rows = (names.size() + columns - 1) / columns;
    const double below = header + panel_height + legend_row * static_cast<double>(rows);
    const double height = below + 20 + caption_row * static_cast<double>(caption.size());
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<title>{2}</title>\n<desc>{3}</desc>\n<rect width=\"100%\" "
        "height=\"100%\" "
        "fill=\"white\"/>\n",
        width, height, xml_escaped(title), xml_escaped(description));
    out += text_at(width / 2, 28, "middle", title, " font-size=\"17\"");
    double at = 0;
    for (const PlotPanel& panel : panels) {
        out += PanelDrawing(panel, names, at).svg();
        at += panel_width;
    }
    out += legend(names, header + panel_height + 14, columns);
    double row = below + 16;
    for (const std::string& text : caption) {
        out += text_at(left, row, "start", text, " font-size=\"12\" fill=\"#555\"");
        row += caption_row;
    }
    return out + "</svg>\n";
}

std::string html_page(const std::string& title, const std::string& svg, const std::string& text) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{0}</title>\n<style>body {{ "
        "font-family: sans-serif; margin: 2em; }} svg {{ max-width: 100%; height: auto; }} pre {{ overflow-x: auto; "
        "}}</style>\n</head>\n<body>\n{1}<pre>{2}</pre>\n</body>\n</html>\n",
        xml_escaped(title), svg, xml_escaped(text));
}

}  // namespace gnnplan::tools
