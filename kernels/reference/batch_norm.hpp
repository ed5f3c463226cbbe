// Batch normalisation as plain loops, in doubles.
#pragma once

#include "kernels/column_moments_body.hpp"

#include <cstdint>

namespace gnnplan::kernels::reference {

inline double normed(const NormedColumns& of, std::int64_t i, std::int64_t j) {
    const double away = static_cast<double>(of.z.row(i)[j]) - static_cast<double>(of.mean[j]);
    return away * static_cast<double>(of.inverse[j]);
}

inline void batch_moments(ConstMatrix z, double* sum, double* squares) {
    for (std::int64_t j = 0; j < z.columns; ++j) {
        sum[j] = squares[j] = 0;
        for (std::int64_t i = 0; i < z.rows; ++i) {
            const auto value = static_cast<double>(z.row(i)[j]);
            sum[j] += value, squares[j] += value * value;
        }
    }
}

inline void batch_finish(const ColumnMoments& of, float* mean, float* inverse, float* running_mean,
                         float* running_variance) {
    for (std::int64_t j = 0; j < of.columns; ++j) finish_column(of, j, mean, inverse, running_mean, running_variance);
}

inline void batch_known(const float* running_mean, const float* running_variance, std::int64_t columns, float* mean,
                        float* inverse) {
    for (std::int64_t j = 0; j < columns; ++j) known_column(running_mean, running_variance, j, mean, inverse);
}

inline void batch_scale(const NormedColumns& of, const float* bias, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j)
            out.row(i)[j] =
                static_cast<float>(normed(of, i, j) * static_cast<double>(of.weight[j]) + static_cast<double>(bias[j]));
    }
}

inline void batch_sums(const NormedColumns& of, ConstMatrix g, float* along, float* plain) {
    for (std::int64_t j = 0; j < g.columns; ++j) {
        double with_x = 0, alone = 0;
        for (std::int64_t i = 0; i < g.rows; ++i) {
            const auto gradient = static_cast<double>(g.row(i)[j]);
            with_x += gradient * normed(of, i, j), alone += gradient;
        }
        along[j] = static_cast<float>(with_x), plain[j] = static_cast<float>(alone);
    }
}

inline void batch_back(const NormedColumns& of, const float* along, const float* plain, double share, Matrix g) {
    for (std::int64_t i = 0; i < g.rows; ++i) {
        for (std::int64_t j = 0; j < g.columns; ++j) {
            const double means =
                (static_cast<double>(plain[j]) + normed(of, i, j) * static_cast<double>(along[j])) * share;
            g.row(i)[j] = static_cast<float>((static_cast<double>(g.row(i)[j]) - means) *
                                             static_cast<double>(of.weight[j]) * static_cast<double>(of.inverse[j]));
        }
    }
}

}  // namespace gnnplan::kernels::reference
