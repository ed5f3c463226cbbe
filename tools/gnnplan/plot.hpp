// Line charts as self-contained SVG: no scripts, no fonts or styles from elsewhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gnnplan::tools {

struct PlotPoint {
    double x = 0;
    double y = 0;
    std::string label;  // shown when the pointer rests on the mark
};

enum class PlotLine : char {
    straight,  // between neighbouring points
    steps,     // a Pareto front: what is not below a point is not worth more x
};

// Series of one name have one colour and one mark in all panels.
struct PlotSeries {
    std::string name;
    std::vector<PlotPoint> points;  // by increasing x
    PlotLine line = PlotLine::straight;
};

struct PlotTick {
    double at = 0;
    std::string text;
};

struct PlotAxis {
    std::string title;                 // with the unit
    bool log = false;                  // needs positive values
    std::vector<PlotTick> ticks = {};  // empty: chosen
};

struct PlotPanel {
    std::string title;
    PlotAxis x, y;
    std::vector<PlotSeries> series;
};

// Panels side by side, one legend below. `caption` stands under it, one line each; `description` is in the file for
// those who ask where it is from.
std::string draw_svg(const std::string& title, const std::string& description, const std::vector<PlotPanel>& panels,
                     const std::vector<std::string>& caption);

// The drawing on a page, `text` below it as it is.
std::string html_page(const std::string& title, const std::string& svg, const std::string& text);

// &, <, >, " and ' as entities; control characters, which XML does not know, as U+FFFD.
std::string xml_escaped(const std::string& text);

}  // namespace gnnplan::tools
