// The shapes that charts are made of, as SVG elements. Coordinates in pixels.
#pragma once

#include "tools/gnnplan/plot.hpp"

#include <cstddef>
#include <string>

namespace gnnplan::tools {

// How the n-th series is drawn: dashes and hollow marks show what lies below them and survive a print in grey.
struct PlotStyle {
    std::string colour, dash;
    std::size_t mark = 0;
};
PlotStyle style_of(std::size_t n);

// A mark centred on a point, filled where it is `chosen`; `label` is shown when the pointer rests on it.
std::string mark(const PlotStyle& style, double x, double y, const std::string& label, bool chosen = false);

// A cross: nothing is there.
std::string cross(const PlotStyle& style, double x, double y, const std::string& label);

// A line of a series along `path`, in SVG's path language.
std::string line_path(const std::string& path, const PlotStyle& style);

// A thin line of axes and grids; `opacity` from 0 to 1.
std::string thin_line(double x1, double y1, double x2, double y2, double opacity, const char* dash = "none");

// The shading of a band, along the closed `path`.
std::string shade(const std::string& path);

// `anchor`: start, middle or end; `attributes` begins with a blank where there are any.
std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const std::string& attributes = "");

}  // namespace gnnplan::tools
