// Which points a calibration measures, and measuring them all.
#pragma once

#include "runtime/calibrate/measurements.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::calibrate {

struct Scope {
    Effort effort;
    std::int64_t largest = 0;            // bytes of any operand and of a rank's messages together
    std::vector<std::int64_t> widths;    // of the dense operand of a sparse product
    std::vector<std::int64_t> windows;   // bytes of that operand
    std::vector<std::int64_t> sides;     // of weights, inner and columns
    std::vector<std::int64_t> streams;   // bytes of elementwise work
    std::vector<std::int64_t> messages;  // bytes
};

// quick: under a minute; full: under ten. Both at two ranks on a machine of today, and nothing larger than `largest`.
Scope quick_scope(std::int64_t largest);
Scope full_scope(std::int64_t largest);

// Called before each point: what it is, how many have been measured, of how many.
using Progress = std::function<void(const std::string& what, std::size_t done, std::size_t total)>;

// Collective; the same samples on every rank, apart from those of links in nodes of different sizes.
std::vector<Sample> measure_all(const Setting& setting, const Nodes& nodes, const Scope& scope,
                                const Progress& progress);

}  // namespace gnnplan::calibrate
