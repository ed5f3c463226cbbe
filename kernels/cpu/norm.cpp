#include <cmath>

#include "kernels/cpu/column_sums.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

NormRow row_of(const NormedRows& of, std::int64_t i) {
    return {of.z.row(i), of.z.columns, of.weight, of.mean[i], 1 / std::sqrt(of.variance[i] + norm_epsilon)};
}

float moment(const VectorKernels& kernels, ConstMatrix z, std::int64_t i, const float* centre, double share) {
    return static_cast<float>(static_cast<double>(kernels.norm.moment_row(z.row(i), z.columns, centre)) * share);
}

}  // namespace

void norm_moment(ConstMatrix z, const float* centre, double share, float* out) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(z.rows, rows_per_chunk(z.columns), z.rows * z.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            out[i] = moment(kernels, z, i, centre == nullptr ? nullptr : centre + i, share);
    });
}

void norm_rows(const NormedRows& of, const float* bias, bool whole, Matrix out) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(out.rows, rows_per_chunk(out.columns), 2 * out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i) {
                            if (whole) {
                                of.mean[i] = moment(kernels, of.z, i, nullptr, of.share);
                                of.variance[i] = moment(kernels, of.z, i, of.mean + i, of.share);
                            }
                            kernels.norm.scale_row(row_of(of, i), bias, out.row(i));
                        }
                    });
}

void norm_sums(const NormedRows& of, ConstMatrix g, Matrix sums, float* of_weight, float* of_bias) {
    const VectorKernels& kernels = best_kernels();
    const auto share = static_cast<float>(of.share);
    sum_two_by_columns(of.z.rows, of.z.columns, of_weight, of_bias, [&](std::int64_t i, double* weight, double* bias) {
        const NormSums of_row = kernels.norm.sums_row(row_of(of, i), g.row(i), weight, bias);
        sums.row(i)[0] = of_row.plain * share, sums.row(i)[1] = of_row.along * share;
    });
}

void norm_back(const NormedRows& of, ConstMatrix sums, Matrix g) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(g.rows, rows_per_chunk(g.columns), g.rows * g.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            kernels.norm.back_row(row_of(of, i), {sums.row(i)[0], sums.row(i)[1]}, g.row(i));
    });
}

void norm_rows_back(const NormedRows& of, Matrix g, float* of_weight, float* of_bias) {
    const VectorKernels& kernels = best_kernels();
    const auto share = static_cast<float>(of.share);
    sum_two_by_columns(of.z.rows, of.z.columns, of_weight, of_bias, [&](std::int64_t i, double* weight, double* bias) {
        const NormRow row = row_of(of, i);
        const NormSums sums = kernels.norm.sums_row(row, g.row(i), weight, bias);
        kernels.norm.back_row(row, {sums.plain * share, sums.along * share}, g.row(i));
    });
}

}  // namespace gnnplan::kernels::cpu
