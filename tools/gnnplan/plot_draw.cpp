#include "tools/gnnplan/plot_draw.hpp"

#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <array>

namespace gnnplan::tools {
namespace {

// Okabe and Ito's colours, which the colour-blind tell apart, without the yellow that white swallows.
constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73",     "#cc79a7",
                                             "#56b4e9", "#e69f00", "currentColor"};
constexpr std::array<const char*, 4> dashes{"none", "9 4", "2 4", "9 3 2 3"};
constexpr std::size_t mark_shapes = 4;

}  // namespace

PlotStyle style_of(std::size_t n) { return {colours[n % colours.size()], dashes[n % dashes.size()], n % mark_shapes}; }

std::string mark(const PlotStyle& style, double x, double y, const std::string& label, bool chosen) {
    const std::string tail =
        fmt::format("stroke=\"{0}\" stroke-width=\"2\" fill=\"{0}\" fill-opacity=\"{1}\"><title>{2}</title>",
                    style.colour, chosen ? 1 : 0, xml_escaped(label));
    switch (style.mark) {
        case 1:
            return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\" {}</rect>\n", x - 4, y - 4,
                               tail);
        case 2: return fmt::format("<path d=\"M{:.1f} {:.1f}l5.5 9.5h-11z\" {}</path>\n", x, y - 6.3, tail);
        case 3:
            return fmt::format("<path d=\"M{:.1f} {:.1f}l6.5 6.5l-6.5 6.5l-6.5 -6.5z\" {}</path>\n", x, y - 6.5, tail);
        default: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" {}</circle>\n", x, y, tail);
    }
}

std::string cross(const PlotStyle& style, double x, double y, const std::string& label) {
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f}l8 8m0 -8l-8 8\" stroke=\"{}\" stroke-width=\"2\" fill=\"none\"><title>{}</title>"
        "</path>\n",
        x - 4, y - 4, style.colour, xml_escaped(label));
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const std::string& attributes) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, attributes,
                       xml_escaped(text));
}

std::string thin_line(double x1, double y1, double x2, double y2, double opacity, const char* dash) {
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"currentColor\" stroke-opacity=\"{}\" "
        "stroke-dasharray=\"{}\" fill=\"none\"/>\n",
        x1, y1, x2, y2, opacity, dash);
}

std::string shade(const std::string& path) {
    return fmt::format("<path d=\"{}\" stroke=\"none\" fill=\"currentColor\" fill-opacity=\"0.1\"/>\n", path);
}

std::string line_path(const std::string& path, const PlotStyle& style) {
    return fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\" fill=\"none\"/>\n",
                       path, style.colour, style.dash);
}

}  // namespace gnnplan::tools
