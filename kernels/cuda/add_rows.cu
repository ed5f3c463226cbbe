#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

// Adds to the rows that `index` names, counting from `first`.
template <class Element>
struct AddRows {
    Dense<const Element> in;
    const std::int32_t* index;
    std::int64_t first;
    Matrix out;

    __device__ const float* from(std::int64_t i) const { return to(i); }
    __device__ float* to(std::int64_t i) const { return row_of(out, index[i] - first); }
    __device__ void begin() const {}
    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> more = load<width>(row_of(in, at.row), at);
        for (int k = 0; k < width; ++k) x[k] += more.x[k];
    }
};

}  // namespace

void add_rows(ConstMatrix in, const std::int32_t* index, std::int64_t first, Matrix out) {
    change_all("add_rows", false, is_aligned(in) && is_aligned(out), in.rows, in.columns,
               AddRows<float>{in, index, first, out});
}

void add_rows_widened(Dense<const Bf16> in, const std::int32_t* index, std::int64_t first, Matrix out) {
    change_all("add_rows_widened", false, is_aligned(in) && is_aligned(out), in.rows, in.columns,
               AddRows<Bf16>{in, index, first, out});
}

}  // namespace gnnplan::kernels::cuda
