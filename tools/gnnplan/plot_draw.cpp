#include "tools/gnnplan/plot_draw.hpp"

#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <array>

namespace gnnplan::tools {
namespace {

// Okabe and Ito's colours, which the colour-blind tell apart, without the yellow that white swallows.
constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73",     "#cc79a7",
                                             "#56b4e9", "#e69f00", "currentColor"};
// As many dashes and shapes as a panel has series, so that no two of them differ in colour alone.
constexpr std::array<const char*, most_series> dashes{"none", "9 4", "2 4",         "9 3 2 3",
                                                      "16 4", "5 3", "9 3 2 3 2 3", "16 4 5 4"};
// Around their middle, in SVG's path language.
constexpr std::array<const char*, most_series> shapes{"m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
                                                      "m-4 -4h8v8h-8z",
                                                      "m0 -6.3l5.5 9.5h-11z",
                                                      "m0 -6.5l6.5 6.5l-6.5 6.5l-6.5 -6.5z",
                                                      "m0 6.3l5.5 -9.5h-11z",
                                                      "m-2 -6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
                                                      "m-6.3 0l9.5 5.5v-11z",
                                                      "m-6 -3h12v6h-12z"};

}  // namespace

PlotStyle style_of(std::size_t n) {
    return {colours[n % colours.size()], dashes[n % dashes.size()], n % shapes.size()};
}

std::string mark(const PlotStyle& style, double x, double y, const std::string& label, bool chosen) {
    return fmt::format(
        "<path class=\"mark\" d=\"M{0:.1f} {1:.1f}{2}\" stroke=\"{3}\" stroke-width=\"2\" fill=\"{3}\" "
        "fill-opacity=\"{4}\"><title>{5}</title></path>\n",
        x, y, shapes[style.mark], style.colour, chosen ? 1 : 0, xml_escaped(label));
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
