// Units of the axes of a sweep's pictures, chosen by the largest value.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

struct Unit {
    const char* name;
    double size;
};

Unit time_unit(double largest_seconds);
Unit memory_unit(double largest_bytes);

// How the values of a variation stand on an axis: scaled numbers, or 0, 1, .. of names.
struct VariationAxis {
    std::string title;  // "link bandwidth [GB/s]"
    bool numbers = false;
    std::vector<double> positions;   // of the settings
    std::vector<std::string> texts;  // "100" of 100 GB/s
};
VariationAxis axis_of(const Variation& variation);

}  // namespace gnnplan::tools
