#include <cstddef>
#include <vector>

#include "kernels/column_moments_body.hpp"
#include "kernels/cpu/column_sums.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {

void batch_moments(ConstMatrix z, double* sum, double* squares) {
    const VectorKernels& kernels = best_kernels();
    sum_two_by_columns(z.rows, z.columns, sum, squares, [&](std::int64_t i, double* first, double* second) {
        kernels.batch_norm.moments_row(z.row(i), z.columns, first, second);
    });
}

void batch_finish(const ColumnMoments& of, float* mean, float* inverse, float* running_mean, float* running_variance) {
    for (std::int64_t j = 0; j < of.columns; ++j) finish_column(of, j, mean, inverse, running_mean, running_variance);
}

void batch_known(const float* running_mean, const float* running_variance, std::int64_t columns, float* mean,
                 float* inverse) {
    for (std::int64_t j = 0; j < columns; ++j) known_column(running_mean, running_variance, j, mean, inverse);
}

void batch_scale(const NormedColumns& of, const float* bias, Matrix out) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(out.rows, rows_per_chunk(out.columns), 2 * out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i)
                            kernels.batch_norm.scale_row(of, i, bias, out.row(i));
                    });
}

void batch_sums(const NormedColumns& of, ConstMatrix g, float* along, float* plain) {
    const VectorKernels& kernels = best_kernels();
    sum_two_by_columns(g.rows, g.columns, along, plain, [&](std::int64_t i, double* first, double* second) {
        kernels.batch_norm.sums_row(of, i, g.row(i), first, second);
    });
}

void batch_back(const NormedColumns& of, const float* along, const float* plain, double share, Matrix g) {
    const VectorKernels& kernels = best_kernels();
    std::vector<float> means(static_cast<std::size_t>(2 * g.columns));
    float* const of_along = means.data();
    float* const of_plain = of_along + g.columns;
    for (std::int64_t j = 0; j < g.columns; ++j) {
        of_along[j] = static_cast<float>(static_cast<double>(along[j]) * share);
        of_plain[j] = static_cast<float>(static_cast<double>(plain[j]) * share);
    }
    parallel_chunks(g.rows, rows_per_chunk(g.columns), 2 * g.rows * g.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i)
                            kernels.batch_norm.back_row(of, i, of_along, of_plain, g.row(i));
                    });
}

}  // namespace gnnplan::kernels::cpu
