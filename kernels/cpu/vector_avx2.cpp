#include "kernels/cpu/vector_body.hpp"

namespace gnnplan::kernels::cpu {

const VectorKernels& avx2_kernels() {
    static constexpr VectorKernels kernels = vector_kernels<8, 8, 6>("avx2");
    return kernels;
}

}  // namespace gnnplan::kernels::cpu
