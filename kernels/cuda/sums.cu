#include "kernels/cuda/sums.cuh"

#include "kernels/cuda/cuda.hpp"

#include <algorithm>

namespace gnnplan::kernels::cuda {
namespace {

struct DotOfRow {
    ConstMatrix a, b;

    __device__ void operator()(std::int64_t i, double (&sum)[1]) const {
        for (std::int64_t j = lane_of_warp(); j < a.columns; j += warp_lanes)
            sum[0] += static_cast<double>(row_of(a, i)[j]) * static_cast<double>(row_of(b, i)[j]);
    }
};

// A block sums the rows of one of `parts` ranges in a strip of as many columns as a warp has lanes.
__global__ void __launch_bounds__(block_threads) sum_columns(ConstMatrix g, std::int64_t parts, double* partial) {
    __shared__ double of_warp[block_warps][warp_lanes];
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int lane = lane_of_warp();
    const std::int64_t strip = blockIdx.x / parts;
    const std::int64_t part = blockIdx.x % parts;
    const std::int64_t column = strip * warp_lanes + lane;
    double sum = 0;
    for (std::int64_t i = part * block_warps + warp; column < g.columns && i < g.rows; i += parts * block_warps)
        sum += static_cast<double>(row_of(g, i)[column]);
    of_warp[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || column >= g.columns) return;
    for (int w = 1; w < block_warps; ++w) sum += of_warp[w][lane];
    partial[part * g.columns + column] = sum;
}

__global__ void __launch_bounds__(block_threads)
    add_parts(const double* partial, std::int64_t parts, std::int64_t columns, float* out) {
    const std::int64_t column = thread_number();
    if (column >= columns) return;
    double sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) sum += partial[part * columns + column];
    out[column] = static_cast<float>(sum);
}

}  // namespace

void dot(ConstMatrix a, ConstMatrix b, float* sum) { sum_over_rows<1>("dot", a.rows, DotOfRow{a, b}, sum); }

void column_sum(ConstMatrix g, float* out) {
    constexpr std::int64_t rows_per_part = 64, most_parts = 256;
    const std::span<std::byte> scratch = queue().scratch;
    const auto room = static_cast<std::int64_t>(scratch.size() / sizeof(double));
    auto* const partial = reinterpret_cast<double*>(scratch.data());
    for (std::int64_t first = 0; first < g.columns; first += room) {
        const std::int64_t columns = std::min(room, g.columns - first);
        const std::int64_t wanted = std::clamp<std::int64_t>(g.rows / rows_per_part, 1, most_parts);
        const std::int64_t parts = std::min(wanted, room / columns);
        const ConstMatrix some = {g.data + first, g.rows, columns, g.stride};
        launch("column_sum", parts * ceil_divide(columns, warp_lanes), sum_columns, some, parts, partial);
        launch("column_sum", ceil_divide(columns, block_threads), add_parts, static_cast<const double*>(partial), parts,
               columns, out + first);
    }
}

}  // namespace gnnplan::kernels::cuda
