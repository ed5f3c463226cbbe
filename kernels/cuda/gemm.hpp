// Dense products by cuBLAS, in either of its modes for fp32.
#pragma once

#include "kernels/table.hpp"

namespace gnnplan::kernels::cuda {

// CUBLAS_COMPUTE_32F_PEDANTIC, of gnnrun's products, and CUBLAS_COMPUTE_32F, which may choose among more of cuBLAS's
// kernels. Neither computes in TF32, by NVIDIA's documentation.
enum class GemmMode { pedantic, usual };

// c = a b, or c += a b, of a and b or their transposes.
void gemm_in(GemmMode mode, Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c,
             bool accumulate);

}  // namespace gnnplan::kernels::cuda
