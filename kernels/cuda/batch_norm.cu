// Batch normalisation: sums over rows, and operations on elements.
#include "kernels/column_moments_body.hpp"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

// The terms of a column of z, or of its squares.
struct Moments {
    ConstMatrix z;
    bool squared;

    struct Column {
        ConstMatrix z;
        bool squared;
        std::int64_t column;

        __device__ double term(std::int64_t i) const {
            const auto value = static_cast<double>(row_of(z, i)[column]);
            return squared ? value * value : value;
        }
    };
    __device__ Column of(std::int64_t column) const { return {z, squared, column}; }
};

// Those of g x.
struct Along {
    NormedColumns in;
    ConstMatrix g;

    struct Column {
        ConstMatrix z, g;
        std::int64_t column;
        float mean, inverse;

        __device__ double term(std::int64_t i) const {
            return static_cast<double>(row_of(g, i)[column] * ((row_of(z, i)[column] - mean) * inverse));
        }
    };
    // Lanes beyond the last column add nothing, and read nothing either.
    __device__ Column of(std::int64_t column) const {
        const bool inside = column < g.columns;
        return {in.z, g, column, inside ? in.mean[column] : 0, inside ? in.inverse[column] : 0};
    }
};

__global__ void __launch_bounds__(block_threads)
    finish_columns(ColumnMoments of, float* mean, float* inverse, float* running_mean, float* running_variance) {
    const std::int64_t j = thread_number();
    if (j < of.columns) finish_column(of, j, mean, inverse, running_mean, running_variance);
}

__global__ void __launch_bounds__(block_threads) known_columns(const float* running_mean, const float* running_variance,
                                                               std::int64_t columns, float* mean, float* inverse) {
    const std::int64_t j = thread_number();
    if (j < columns) known_column(running_mean, running_variance, j, mean, inverse);
}

// body(i, j) of every element.
template <class Body>
__device__ void by_elements(std::int64_t rows, std::int64_t columns, const Body& body) {
    for (std::int64_t k = thread_number(); k < rows * columns; k += thread_count()) {
        const std::int64_t i = quotient(k, columns);
        body(i, k - i * columns);
    }
}

__global__ void __launch_bounds__(block_threads) scale_columns(NormedColumns of, const float* bias, Matrix out) {
    by_elements(out.rows, out.columns, [&](std::int64_t i, std::int64_t j) {
        const float x = (row_of(of.z, i)[j] - of.mean[j]) * of.inverse[j];
        row_of(out, i)[j] = fmaf(x, of.weight[j], bias[j]);
    });
}

__global__ void __launch_bounds__(block_threads)
    back_columns(NormedColumns of, const float* along, const float* plain, float share, Matrix g) {
    by_elements(g.rows, g.columns, [&](std::int64_t i, std::int64_t j) {
        const float x = (row_of(of.z, i)[j] - of.mean[j]) * of.inverse[j];
        float& to = row_of(g, i)[j];
        to = (to - fmaf(x, along[j] * share, plain[j] * share)) * of.weight[j] * of.inverse[j];
    });
}

}  // namespace

void batch_moments(ConstMatrix z, double* sum, double* squares) {
    sum_by_columns("batch_moments", z.rows, z.columns, Moments{z, false}, sum);
    sum_by_columns("batch_moments", z.rows, z.columns, Moments{z, true}, squares);
}

void batch_finish(const ColumnMoments& of, float* mean, float* inverse, float* running_mean, float* running_variance) {
    launch("batch_finish", ceil_divide(of.columns, block_threads), finish_columns, of, mean, inverse, running_mean,
           running_variance);
}

void batch_known(const float* running_mean, const float* running_variance, std::int64_t columns, float* mean,
                 float* inverse) {
    launch("batch_known", ceil_divide(columns, block_threads), known_columns, running_mean, running_variance, columns,
           mean, inverse);
}

void batch_scale(const NormedColumns& of, const float* bias, Matrix out) {
    launch("batch_scale", blocks_for(out.rows * out.columns), scale_columns, of, bias, out);
}

void batch_sums(const NormedColumns& of, ConstMatrix g, float* along, float* plain) {
    sum_by_columns("batch_sums", g.rows, g.columns, Along{of, g}, along);
    column_sum(g, plain);
}

void batch_back(const NormedColumns& of, const float* along, const float* plain, double share, Matrix g) {
    launch("batch_back", blocks_for(g.rows * g.columns), back_columns, of, along, plain, static_cast<float>(share), g);
}

}  // namespace gnnplan::kernels::cuda
