// What-if grids: every combination of a few settings, each planned on its own.
#pragma once

#include <gnnplan/select.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A value as it was given; `number` in the unit of its variation's key, none where it is a name.
struct Setting {
    std::string text;
    std::optional<double> number;
};

struct Variation {
    std::string name;  // of --vary: "bandwidth"
    std::string key;   // of CSV and JSON, with the unit: "bandwidth_bytes_per_second"
    std::vector<Setting> settings;
};

struct SweepPoint {
    std::vector<std::size_t> at;     // the setting of each variation
    std::optional<Ranked> best;      // none: see `code` and `why`
    std::vector<Ranked> pareto;      // time against memory, by increasing memory
    std::vector<Rejected> rejected;  // what the search set aside
    ErrorCode code = ErrorCode::internal;
    std::string why;
    std::optional<int> smallest_ranks;  // where nothing fits: the fewest ranks on which something would
};

struct Sweep {
    std::vector<Variation> variations;
    std::vector<SweepPoint> points;  // the last variation fastest
};

// Every combination of settings, the last variation fastest; one empty combination when nothing varies.
std::vector<std::vector<std::size_t>> combinations(const std::vector<Variation>& variations);

// What is fast in little memory: by increasing memory and falling time, of what fits.
std::vector<Ranked> time_memory_front(const std::vector<Ranked>& ranked);

// The variation to draw and compare along: `ranks` if it varies, else the first of numbers, else the first; none when
// nothing varies.
std::optional<std::size_t> main_variation(const std::vector<Variation>& variations);

// The points along one variation with all other settings the same.
struct SweepLine {
    std::vector<std::size_t> others;        // settings of the other variations; 0 for the main one
    std::vector<const SweepPoint*> points;  // by increasing number, or as given
};
std::vector<SweepLine> lines_along(const Sweep& sweep, std::size_t variation);

// A sentence for every setting, ranks apart, in which nothing fits on any of the ranks asked for: "memory=2GiB: nothing
// fits on 2, 4 ranks; 8 would do".
std::vector<std::string> nothing_fits_lines(const Sweep& sweep);

// "scheme=1d, hidden=128" of the settings `at`, without the variations in `skip`.
std::string settings_text(const std::vector<Variation>& variations, const std::vector<std::size_t>& at,
                          const std::vector<std::size_t>& skip);

}  // namespace gnnplan::tools
