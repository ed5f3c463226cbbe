#include "kernels/cpu/vector_body.hpp"

namespace gnnplan::kernels::cpu {

const VectorKernels& avx512_kernels() {
    static constexpr VectorKernels kernels = vector_kernels<16, 10, 12>("avx512");
    return kernels;
}

}  // namespace gnnplan::kernels::cpu
