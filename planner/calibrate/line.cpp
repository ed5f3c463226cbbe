#include "planner/calibrate/line.hpp"

#include <cstddef>
#include <vector>

namespace gnnplan::calibrate {

namespace {

// Minimises sum(w (alpha + beta x - t)^2) with w = 1 / expected^2, for x = bytes and t = seconds.
AlphaBeta weighted_fit(std::span<const Timing> timings, const std::vector<double>& expected) {
    double w1 = 0;
    double wx = 0;
    double wxx = 0;
    double wt = 0;
    double wxt = 0;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const auto [x, t] = timings[i];
        const double w = 1 / (expected[i] * expected[i]);
        w1 += w;
        wx += w * x;
        wxx += w * x * x;
        wt += w * t;
        wxt += w * x * t;
    }
    const double determinant = w1 * wxx - wx * wx;
    const AlphaBeta fit{(wt * wxx - wxt * wx) / determinant, (wxt * w1 - wt * wx) / determinant};
    if (fit.alpha < 0) return {0, wxt / wxx};
    if (fit.beta < 0) return {wt / w1, 0};
    return fit;
}

}  // namespace

AlphaBeta fit_alpha_beta(std::span<const Timing> timings) {
    // Errors relative to the model, not to the measurement, lest one lucky measurement outweigh the others; the model
    // is not known beforehand, so it is fitted again with the weights of the fit before.
    std::vector<double> expected(timings.size());
    for (std::size_t i = 0; i < timings.size(); ++i) expected[i] = timings[i].seconds;
    AlphaBeta fit;
    for (int round = 0; round < 20; ++round) {
        fit = weighted_fit(timings, expected);
        for (std::size_t i = 0; i < timings.size(); ++i) expected[i] = fit.seconds(timings[i].bytes);
    }
    return fit;
}

}  // namespace gnnplan::calibrate
