// Layer normalisation: a warp has a row at a time.
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/cuda.hpp"

namespace gnnplan::kernels::cuda {
namespace {

struct NormRow {
    const float* z;
    float mean, inverse;

    __device__ NormRow(const NormedRows& of, std::int64_t i)
        : z(row_of(of.z, i)), mean(of.mean[i]), inverse(1 / sqrtf(of.variance[i] + norm_epsilon)) {}
    __device__ float x(std::int64_t j) const { return (z[j] - mean) * inverse; }
};

// body(i) for every row, in all lanes of the warp that has it.
template <class Body>
__device__ void by_warps(std::int64_t rows, const Body& body) {
    for (std::int64_t i = thread_number() / warp_lanes; i < rows; i += thread_count() / warp_lanes) body(i);
}

// The sum of z, or of its squared distances from `centre`, in every lane.
__device__ inline double moment_of(const float* z, std::int64_t columns, const float* centre) {
    double sum = 0;
    for (std::int64_t j = lane_of_warp(); j < columns; j += warp_lanes) {
        const double away = static_cast<double>(z[j]) - (centre == nullptr ? 0.0 : static_cast<double>(*centre));
        sum += centre == nullptr ? away : away * away;
    }
    return warp_sum(sum);
}

__global__ void __launch_bounds__(block_threads) moments(ConstMatrix z, const float* centre, double share, float* out) {
    by_warps(z.rows, [&](std::int64_t i) {
        const double sum = moment_of(row_of(z, i), z.columns, centre == nullptr ? nullptr : centre + i);
        if (lane_of_warp() == 0) out[i] = static_cast<float>(sum * share);
    });
}

__global__ void __launch_bounds__(block_threads)
    normalise_rows(NormedRows of, const float* bias, bool whole, Matrix out) {
    by_warps(out.rows, [&](std::int64_t i) {
        if (whole) {
            const float* z = row_of(of.z, i);
            const auto mean = static_cast<float>(moment_of(z, of.z.columns, nullptr) * of.share);
            const double variance = moment_of(z, of.z.columns, &mean) * of.share;
            if (lane_of_warp() == 0) of.mean[i] = mean, of.variance[i] = static_cast<float>(variance);
            __syncwarp();
        }
        const NormRow row(of, i);
        float* const to = row_of(out, i);
        for (std::int64_t j = lane_of_warp(); j < out.columns; j += warp_lanes)
            to[j] = fmaf(row.x(j), of.weight[j], bias[j]);
    });
}

// Means over all columns of g weight and of g weight x, in every lane.
struct Means {
    float plain, along;
};
__device__ inline Means means_of(const NormedRows& of, const NormRow& row, const float* g) {
    double plain = 0, along = 0;
    for (std::int64_t j = lane_of_warp(); j < of.z.columns; j += warp_lanes) {
        const float scaled = g[j] * of.weight[j];
        plain += static_cast<double>(scaled), along += static_cast<double>(scaled * row.x(j));
    }
    return {static_cast<float>(warp_sum(plain) * of.share), static_cast<float>(warp_sum(along) * of.share)};
}

__global__ void __launch_bounds__(block_threads) mean_rows(NormedRows of, ConstMatrix g, Matrix sums) {
    by_warps(g.rows, [&](std::int64_t i) {
        const Means means = means_of(of, NormRow(of, i), row_of(g, i));
        if (lane_of_warp() == 0) row_of(sums, i)[0] = means.plain, row_of(sums, i)[1] = means.along;
    });
}

// Without sums a rank has whole rows, and makes them.
__global__ void __launch_bounds__(block_threads) back_rows(NormedRows of, ConstMatrix sums, Matrix g) {
    by_warps(g.rows, [&](std::int64_t i) {
        const NormRow row(of, i);
        float* const to = row_of(g, i);
        const Means means =
            sums.data == nullptr ? means_of(of, row, to) : Means{row_of(sums, i)[0], row_of(sums, i)[1]};
        for (std::int64_t j = lane_of_warp(); j < g.columns; j += warp_lanes)
            to[j] = (to[j] * of.weight[j] - means.plain - row.x(j) * means.along) * row.inverse;
    });
}

// A column's terms of the gradients of weight and bias.
struct OfWeight {
    NormedRows of;
    ConstMatrix g;

    struct Column {
        const NormedRows& of;
        const ConstMatrix& g;
        std::int64_t column;

        __device__ double term(std::int64_t i) const {
            return static_cast<double>(row_of(g, i)[column] * NormRow(of, i).x(column));
        }
    };
    __device__ Column of_column(std::int64_t column) const { return {of, g, column}; }
};
struct WeightTerms {
    OfWeight terms;
    __device__ OfWeight::Column of(std::int64_t column) const { return terms.of_column(column); }
};

template <class Kernel, class... Arguments>
void launch_by_rows(const char* what, std::int64_t rows, Kernel kernel, const Arguments&... arguments) {
    launch(what, blocks_for(rows * warp_lanes), kernel, arguments...);
}

void sum_parameters(const NormedRows& of, ConstMatrix g, float* of_weight, float* of_bias) {
    sum_by_columns("norm_weight", g.rows, g.columns, WeightTerms{{of, g}}, of_weight);
    column_sum(g, of_bias);
}

}  // namespace

void norm_moment(ConstMatrix z, const float* centre, double share, float* out) {
    launch_by_rows("norm_moment", z.rows, moments, z, centre, share, out);
}

void norm_rows(const NormedRows& of, const float* bias, bool whole, Matrix out) {
    launch_by_rows("norm_rows", out.rows, normalise_rows, of, bias, whole, out);
}

void norm_sums(const NormedRows& of, ConstMatrix g, Matrix sums, float* of_weight, float* of_bias) {
    launch_by_rows("norm_sums", g.rows, mean_rows, of, g, sums);
    sum_parameters(of, g, of_weight, of_bias);
}

void norm_back(const NormedRows& of, ConstMatrix sums, Matrix g) {
    launch_by_rows("norm_back", g.rows, back_rows, of, sums, g);
}

void norm_rows_back(const NormedRows& of, Matrix g, float* of_weight, float* of_bias) {
    sum_parameters(of, g, of_weight, of_bias);
    launch_by_rows("norm_rows_back", g.rows, back_rows, of, ConstMatrix{}, g);
}

}  // namespace gnnplan::kernels::cuda
