#include "kernels/cuda/sums.cuh"

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/cuda.hpp"

namespace gnnplan::kernels::cuda {
namespace {

struct DotOfRow {
    ConstMatrix a, b;

    __device__ void operator()(std::int64_t i, double (&sum)[1]) const {
        for (std::int64_t j = lane_of_warp(); j < a.columns; j += warp_lanes)
            sum[0] += static_cast<double>(row_of(a, i)[j]) * static_cast<double>(row_of(b, i)[j]);
    }
};

// A column's own numbers.
struct Numbers {
    ConstMatrix g;

    struct Column {
        const float* from;
        std::int64_t stride;

        __device__ double term(std::int64_t i) const { return static_cast<double>(from[i * stride]); }
    };
    __device__ Column of(std::int64_t column) const { return {g.data + column, g.stride}; }
};

}  // namespace

void dot(ConstMatrix a, ConstMatrix b, float* sum) { sum_over_rows<1>("dot", a.rows, DotOfRow{a, b}, sum); }

void column_sum(ConstMatrix g, float* out) { sum_by_columns("column_sum", g.rows, g.columns, Numbers{g}, out); }

}  // namespace gnnplan::kernels::cuda
