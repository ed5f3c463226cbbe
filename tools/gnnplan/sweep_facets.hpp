// How the lines of a sweep are spread over the panels of its plot.
#pragma once

#include "tools/advise/sweep/sweep_contest.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The lines that one panel shows and what it says of the others.
struct Facet {
    std::string title;  // "hidden=16"
    std::vector<SweepLine> lines;
    std::optional<std::size_t> by = std::nullopt;  // the variation that has one value in it
};

// Seconds of the best plan of a point that has one.
inline double seconds_of(const SweepPoint& point) { return point.best->predicted.shown_seconds(); }

// The faster of two points; `a` may be none yet, `b` may be none or without a plan.
const SweepPoint* faster(const SweepPoint* a, const SweepPoint* b);

// One facet of all lines, or several of at most most_series each, one per value of another variation, problems before
// the ways to compute them.
std::vector<Facet> facets_of(const Sweep& sweep, std::size_t main);

}  // namespace gnnplan::tools
