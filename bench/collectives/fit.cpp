#include "bench/collectives/fit.hpp"

#include <cstddef>

namespace gnnplan::bench {

namespace {

// Minimises sum(w (alpha + beta x - t)^2) with w = 1 / expected^2, for x = bytes and t = seconds.
AlphaBeta weighted_fit(const std::vector<Sample>& samples, const std::vector<double>& expected) {
    double w1 = 0;
    double wx = 0;
    double wxx = 0;
    double wt = 0;
    double wxt = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto [x, t] = samples[i];
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

AlphaBeta fit_alpha_beta(const std::vector<Sample>& samples) {
    // Errors relative to the model, not to the measurement, lest one lucky measurement outweigh the others; the model
    // is not known beforehand, so it is fitted again with the weights of the fit before.
    std::vector<double> expected(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) expected[i] = samples[i].seconds;
    AlphaBeta fit;
    for (int round = 0; round < 20; ++round) {
        fit = weighted_fit(samples, expected);
        for (std::size_t i = 0; i < samples.size(); ++i) expected[i] = fit.alpha + fit.beta * samples[i].bytes;
    }
    return fit;
}

}  // namespace gnnplan::bench
