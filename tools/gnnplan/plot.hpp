// Line charts as self-contained SVG: no scripts, no fonts or styles from elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::tools {

struct PlotPoint {
    double x = 0;
    double y = 0;
    std::string label;    // shown when the pointer rests on the mark
    bool chosen = false;  // its mark is filled
};

enum class PlotLine : char {
    straight,   // between neighbouring points
    steps,      // a Pareto front: what is not below a point is not worth more x
    none,       // marks alone: what lies between two names has no meaning
    reference,  // a thin grey line without marks, to compare with
};

// Series of one name have one colour and one mark in all panels.
struct PlotSeries {
    std::string name;
    std::vector<PlotPoint> points;  // by increasing x
    PlotLine line = PlotLine::straight;
    std::vector<PlotPoint> missing = {};  // have no y: marked above the panel as what does not fit
};

// The area between two lines is shaded.
struct PlotSpan {
    double x = 0, low = 0, high = 0;
};
struct PlotBand {
    std::string name;
    std::vector<PlotSpan> spans;  // by increasing x
};

// A vertical line at the largest x there may be; where it lies far beyond the points, a word at the edge.
struct PlotLimit {
    double at = 0;
    std::string text;
};

struct PlotTick {
    double at = 0;
    std::string text;
};

struct PlotAxis {
    std::string title;                 // with the unit
    bool log = false;                  // needs positive values; the picture says so beside the title
    std::vector<PlotTick> ticks = {};  // empty: chosen
};

struct PlotPanel {
    std::string title;
    PlotAxis x, y;
    std::vector<PlotSeries> series;
    std::vector<PlotBand> bands = {};
    std::vector<PlotLimit> limits = {};
};

inline constexpr std::size_t most_series = 8;  // that a reader can tell apart in one panel

// Panels in rows of two, one legend below. `caption` stands under it, in paragraphs; `description` is in the file for
// those who ask where it is from. No title where it is empty.
std::string draw_svg(const std::string& title, const std::string& description, const std::vector<PlotPanel>& panels,
                     const std::vector<std::string>& caption);

// A page around `body`, which is HTML: as wide as the window lets it, light or dark as the reader has it.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace gnnplan::tools
