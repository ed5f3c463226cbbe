// The alpha-beta model of a message or a collective, fitted to measured times.
#pragma once

#include <span>

namespace gnnplan::calibrate {

struct Timing {
    double bytes = 0;
    double seconds = 0;  // > 0
};

struct AlphaBeta {
    double alpha = 0;  // seconds
    double beta = 0;   // seconds per byte

    double seconds(double bytes) const { return alpha + beta * bytes; }
};

// Least squares of the relative error of alpha + beta * bytes, so that small and large sizes weigh the same; neither is
// negative. Needs two different sizes.
AlphaBeta fit_alpha_beta(std::span<const Timing> timings);

}  // namespace gnnplan::calibrate
