// Layer normalisation as plain loops, in doubles.
#pragma once

#include "kernels/norm.hpp"

#include <cmath>
#include <cstdint>

namespace gnnplan::kernels::reference {

inline double norm_inverse(const NormedRows& of, std::int64_t i) {
    return 1 / std::sqrt(static_cast<double>(of.variance[i]) + static_cast<double>(norm_epsilon));
}
inline double normed(const NormedRows& of, std::int64_t i, std::int64_t j) {
    return (static_cast<double>(of.z.row(i)[j]) - static_cast<double>(of.mean[i])) * norm_inverse(of, i);
}

inline void norm_moment(ConstMatrix z, const float* centre, double share, float* out) {
    for (std::int64_t i = 0; i < z.rows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < z.columns; ++j) {
            const double away = static_cast<double>(z.row(i)[j]) - (centre == nullptr ? 0.0 : centre[i]);
            sum += centre == nullptr ? away : away * away;
        }
        out[i] = static_cast<float>(sum * share);
    }
}

inline void norm_rows(const NormedRows& of, const float* bias, bool whole, Matrix out) {
    if (whole) norm_moment(of.z, nullptr, of.share, of.mean), norm_moment(of.z, of.mean, of.share, of.variance);
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j)
            out.row(i)[j] =
                static_cast<float>(normed(of, i, j) * static_cast<double>(of.weight[j]) + static_cast<double>(bias[j]));
    }
}

inline void norm_sums(const NormedRows& of, ConstMatrix g, Matrix sums, float* of_weight, float* of_bias) {
    for (std::int64_t i = 0; i < g.rows; ++i) {
        double plain = 0, along = 0;
        for (std::int64_t j = 0; j < g.columns; ++j) {
            const double scaled = static_cast<double>(g.row(i)[j]) * static_cast<double>(of.weight[j]);
            plain += scaled, along += scaled * normed(of, i, j);
        }
        sums.row(i)[0] = static_cast<float>(plain * of.share), sums.row(i)[1] = static_cast<float>(along * of.share);
    }
    for (std::int64_t j = 0; j < g.columns; ++j) {
        double weight = 0, bias = 0;
        for (std::int64_t i = 0; i < g.rows; ++i) {
            weight += static_cast<double>(g.row(i)[j]) * normed(of, i, j);
            bias += static_cast<double>(g.row(i)[j]);
        }
        of_weight[j] = static_cast<float>(weight), of_bias[j] = static_cast<float>(bias);
    }
}

inline void norm_back(const NormedRows& of, ConstMatrix sums, Matrix g) {
    for (std::int64_t i = 0; i < g.rows; ++i) {
        for (std::int64_t j = 0; j < g.columns; ++j) {
            const double scaled = static_cast<double>(g.row(i)[j]) * static_cast<double>(of.weight[j]);
            const double along = normed(of, i, j) * static_cast<double>(sums.row(i)[1]);
            g.row(i)[j] =
                static_cast<float>((scaled - static_cast<double>(sums.row(i)[0]) - along) * norm_inverse(of, i));
        }
    }
}

inline void norm_rows_back(const NormedRows& of, Matrix g, float* of_weight, float* of_bias) {
    for (std::int64_t j = 0; j < g.columns; ++j) of_weight[j] = of_bias[j] = 0;
    for (std::int64_t i = 0; i < g.rows; ++i) {
        NormedRows row = of;
        row.z = {of.z.row(i), 1, of.z.columns, of.z.stride}, row.mean += i, row.variance += i;
        const Matrix own{g.row(i), 1, g.columns, g.stride};
        float sums[2];
        for (std::int64_t j = 0; j < g.columns; ++j) {
            of_weight[j] += static_cast<float>(static_cast<double>(own.data[j]) * normed(row, 0, j));
            of_bias[j] += own.data[j];
        }
        double plain = 0, along = 0;
        for (std::int64_t j = 0; j < g.columns; ++j) {
            const double scaled = static_cast<double>(own.data[j]) * static_cast<double>(of.weight[j]);
            plain += scaled, along += scaled * normed(row, 0, j);
        }
        sums[0] = static_cast<float>(plain * of.share), sums[1] = static_cast<float>(along * of.share);
        norm_back(row, {sums, 1, 2, 2}, own);
    }
}

}  // namespace gnnplan::kernels::reference
