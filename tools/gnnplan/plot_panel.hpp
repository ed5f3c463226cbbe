// One panel of a chart as SVG elements.
#pragma once

#include "tools/gnnplan/plot.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

// Pixels.
inline constexpr double panel_width = 560, panel_height = 400;
inline constexpr double panel_left = 84, panel_right = 24;  // margins

// The panel with its left upper corner at (x, y). Series have the styles of their places in `names`; `id` is unique in
// the document.
std::string draw_panel(const PlotPanel& panel, const std::vector<std::string>& names, double x, double y,
                       std::size_t id);

}  // namespace gnnplan::tools
