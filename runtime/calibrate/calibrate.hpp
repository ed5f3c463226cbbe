// A calibration chooses points by its scope, and measures all of them.
#pragma once

#include "planner/calibrate/pilot.hpp"
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
    double limit = 0;                    // seconds, of all points but those that no fit can do without; 0: none
    double pilot_every = 30;             // seconds, about
};

// quick: a minute at most; full: under ten at two ranks on a machine of today. Nothing is larger than `largest`.
Scope quick_scope(std::int64_t largest);
Scope full_scope(std::int64_t largest);
// The same for a device with memory of its own, which computes some hundred times as much a second, in larger caches:
// about half a minute and two minutes.
Scope quick_device_scope(std::int64_t largest);
Scope full_device_scope(std::int64_t largest);

struct Measured {
    std::vector<Sample> samples;
    std::size_t points = 0;
    std::size_t left_out = 0;  // because of the limit
    std::vector<Pilot> pilots{};
};

// Called before each point: what it is, how many have been measured, of how many.
using Progress = std::function<void(const std::string& what, std::size_t done, std::size_t total)>;

// The figures of a probe are measured at the beginning, at the end and in between. Samples are as if the machine had
// always been in the state of reference_of(pilots); where it changed much between two pilots, the points between them
// are measured once more, as far as half a minute allows and no limit is set.
// Collective; the same samples on every rank, apart from those of links in nodes of different sizes.
Measured measure_all(const Setting& setting, const Nodes& nodes, const Scope& scope, const Progress& progress);

}  // namespace gnnplan::calibrate
