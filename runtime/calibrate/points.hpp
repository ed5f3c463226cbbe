// The points of a calibration's curves: what is measured, and in which order it is listed.
#pragma once

#include "runtime/calibrate/calibrate.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::calibrate {

inline constexpr std::int64_t mib = 1 << 20;  // bytes

struct Point {
    std::string what;
    bool needed = false;  // even when time is short
    std::function<void(std::vector<Sample>&)> measure;
};
using Points = std::vector<Point>;

// All of them, in the order they are listed. The arguments outlive them.
Points points_of(const Setting& setting, const Nodes& nodes, const Scope& scope);

}  // namespace gnnplan::calibrate
