#include "tools/gnnplan/plot.hpp"
#include "tools/gnnplan/plot_draw.hpp"
#include "tools/gnnplan/plot_panel.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace gnnplan::tools {
namespace {

// Pixels.
constexpr double legend_row = 20, legend_sample = 38, letter = 7.2, legend_gap = 24, caption_row = 16;
constexpr double caption_letter = 6.3;
constexpr std::size_t panels_in_row = 2;

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Names of series that have something to show, in the order in which they first appear.
std::vector<std::string> names_of(const std::vector<PlotPanel>& panels) {
    std::vector<std::string> names;
    for (const PlotPanel& panel : panels) {
        for (const PlotSeries& series : panel.series) {
            const bool shown = !series.points.empty() || !series.missing.empty();
            if (shown && series.line != PlotLine::reference) add_once(names, series.name);
        }
    }
    return names;
}

// Schemes have one colour and one mark in every picture: where all series are schemes, their numbers are those of this
// list, and not those in which they appear.
constexpr std::array<const char*, 7> schemes{"1d", "1.5d", "2d", "3d", "rdm", "paper", "cut"};

std::vector<std::string> numbered(const std::vector<std::string>& names) {
    const bool known = std::ranges::all_of(
        names, [](const std::string& name) { return std::ranges::find(schemes, name) != schemes.end(); });
    return known ? std::vector<std::string>(schemes.begin(), schemes.end()) : names;
}

// A sample of what is drawn, 30 pixels wide with its middle at height y, and its name.
struct LegendEntry {
    std::string name;
    std::function<std::string(double x, double y)> sample;
};

std::vector<LegendEntry> legend_entries(const std::vector<PlotPanel>& panels, const std::vector<std::string>& names) {
    std::vector<LegendEntry> entries;
    const std::vector<std::string> shown = names_of(panels);
    for (std::size_t n = 0; n < names.size(); ++n) {
        if (std::ranges::find(shown, names[n]) == shown.end()) continue;
        entries.push_back({names[n], [n, name = names[n]](double x, double y) {
                               return line_path(fmt::format("M{:.1f} {:.1f}h30", x, y), style_of(n)) +
                                      mark(style_of(n), x + 15, y, name);
                           }});
    }
    std::vector<std::string> references, bands;
    bool chosen = false;
    for (const PlotPanel& panel : panels) {
        for (const PlotBand& band : panel.bands) add_once(bands, band.name);
        for (const PlotSeries& series : panel.series) {
            if (series.line == PlotLine::reference) add_once(references, series.name);
            chosen = chosen ||
                     std::any_of(series.points.begin(), series.points.end(), [](const auto& p) { return p.chosen; });
        }
    }
    for (const std::string& name : references) {
        entries.push_back({name, [](double x, double y) { return thin_line(x, y, x + 30, y, 0.8, "2 4"); }});
    }
    for (const std::string& name : bands) {
        entries.push_back(
            {name, [](double x, double y) { return shade(fmt::format("M{:.1f} {:.1f}h30v12h-30z", x, y - 6)); }});
    }
    if (chosen) {
        entries.push_back({"the plan chosen", [](double x, double y) {
                               return mark({"currentColor", "none", 0}, x + 15, y, "the plan chosen", true);
                           }});
    }
    return entries;
}

// From left to right in columns that are wide enough for the longest name; returns the height, too.
std::pair<std::string, double> legend(const std::vector<LegendEntry>& entries, double y, double width) {
    std::size_t longest = 0;
    for (const LegendEntry& entry : entries) longest = std::max(longest, entry.name.size());
    const double column = legend_sample + legend_gap + letter * static_cast<double>(longest);
    const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>((width - panel_left) / column));
    std::string out;
    for (std::size_t n = 0; n < entries.size(); ++n) {
        const std::size_t line = n / columns;
        const double x = panel_left + column * static_cast<double>(n % columns);
        const double row = y + legend_row * static_cast<double>(line);
        out += entries[n].sample(x, row - 4) + text_at(x + legend_sample, row, "start", entries[n].name);
    }
    const std::size_t lines = (entries.size() + columns - 1) / columns;
    return {out, legend_row * static_cast<double>(lines)};
}

std::vector<std::string> caption_lines(const std::vector<std::string>& caption, double width) {
    const auto letters = static_cast<std::size_t>((width - panel_left - panel_right) / caption_letter);
    std::vector<std::string> lines;
    for (const std::string& paragraph : caption) {
        for (std::string& line : broken(paragraph, letters)) lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace

std::string draw_svg(const std::string& title, const std::string& description, const std::vector<PlotPanel>& panels,
                     const std::vector<std::string>& caption) {
    const std::vector<std::string> names = numbered(names_of(panels));
    const std::size_t columns = std::clamp<std::size_t>(panels.size(), 1, panels_in_row);
    const std::size_t rows = (panels.size() + columns - 1) / columns;
    const double width = panel_width * static_cast<double>(columns);
    const double header = title.empty() ? 8 : 44;
    const double below = header + panel_height * static_cast<double>(rows);
    const auto [keys, keys_height] = legend(legend_entries(panels, names), below + 14, width);
    const std::vector<std::string> lines = caption_lines(caption, width);
    const double height = below + keys_height + 20 + caption_row * static_cast<double>(lines.size());
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\" color=\"#222\" fill=\"currentColor\">\n"
        "<title>{2}</title>\n<desc>{3}</desc>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height, xml_escaped(title), xml_escaped(description));
    if (!title.empty()) out += text_at(width / 2, 28, "middle", title, " font-size=\"17\"");
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const std::size_t row = p / columns;
        out += draw_panel(panels[p], names, panel_width * static_cast<double>(p % columns),
                          header + panel_height * static_cast<double>(row), p);
    }
    out += keys;
    double row = below + keys_height + 16;
    for (const std::string& text : lines) {
        out += text_at(panel_left, row, "start", text, " font-size=\"12\" fill-opacity=\"0.75\"");
        row += caption_row;
    }
    return out + "</svg>\n";
}

}  // namespace gnnplan::tools
