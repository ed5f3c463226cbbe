#include "kernels/cpu/vector_body.hpp"

namespace gnnplan::kernels::cpu {

const VectorKernels& baseline_kernels() {
    static constexpr VectorKernels kernels = vector_kernels<4, 8, 6>("baseline");
    return kernels;
}

}  // namespace gnnplan::kernels::cpu
