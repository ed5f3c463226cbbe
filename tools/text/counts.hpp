// Counts and durations that people write, checked while they are read.
#pragma once

#include <gnnplan/ir/layout.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct Bounds {
    std::int64_t min = 1;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// A whole number, such as 602, 1e6 or 1.6B (k, M and B are thousands, millions and billions). Throws Error{usage}
// outside the bounds.
std::int64_t parse_count(const std::string& text, const Bounds& bounds);
// Numbers separated by `separator`.
std::vector<std::int64_t> parse_counts(const std::string& text, char separator, const Bounds& bounds);

// "2x3" or "2x3x2". Throws Error{usage} that names the option `grid`.
Grid parse_grid(const std::string& text);

// Seconds in "3h50m", above 0. Throws Error{usage}.
std::int64_t parse_duration(const std::string& text);

}  // namespace gnnplan::tools
