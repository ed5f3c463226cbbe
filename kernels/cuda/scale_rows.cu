#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

// Scales, or clears, the rows that `index` names, or the first ones.
struct ScaleRows {
    const std::int32_t* index;
    const float* factor;
    Matrix rows;

    __device__ const float* from(std::int64_t i) const { return to(i); }
    __device__ float* to(std::int64_t i) const { return row_of(rows, index != nullptr ? index[i] : i); }
    __device__ void begin() const {}
    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        for (int k = 0; k < width; ++k) x[k] = factor != nullptr ? x[k] * factor[at.row] : 0.0F;
    }
};

}  // namespace

void scale_rows(const std::int32_t* index, const float* factor, std::int64_t count, Matrix rows) {
    change_all("scale_rows", false, is_aligned(rows), count, rows.columns, ScaleRows{index, factor, rows});
}

}  // namespace gnnplan::kernels::cuda
