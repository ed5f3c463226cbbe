// The alpha-beta model of a collective, fitted to measured times.
#pragma once

#include <vector>

namespace gnnplan::bench {

struct Sample {
    double bytes = 0;    // bus bytes
    double seconds = 0;  // > 0
};

struct AlphaBeta {
    double alpha = 0;  // seconds
    double beta = 0;   // seconds per bus byte
};

// Least squares of the relative error of alpha + beta * bytes, so that small and large sizes weigh the same; neither is
// negative. Needs two different sizes.
AlphaBeta fit_alpha_beta(const std::vector<Sample>& samples);

}  // namespace gnnplan::bench
