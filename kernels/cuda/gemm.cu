// cuBLAS has matrices by columns: a row-major matrix is its transpose there, so that c = a b is computed as
// c^T = b^T a^T of the same memory.
#include "kernels/cuda/gemm.hpp"

#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/queue.hpp"

#include <cublas_v2.h>

namespace gnnplan::kernels::cuda {
namespace {

cublasOperation_t operation(Transpose transpose) { return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

void gemm_in(GemmMode mode, Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c,
             bool accumulate) {
    if (c.rows == 0 || c.columns == 0) return;
    Queue& on = queue();
    const std::int64_t inner = transpose_a == Transpose::yes ? a.rows : a.columns;
    if (inner == 0) {  // a sum of nothing
        const auto row_bytes = static_cast<std::size_t>(c.columns) * sizeof(float);
        const auto stride_bytes = static_cast<std::size_t>(c.stride) * sizeof(float);
        if (!accumulate) {
            on.note(cudaMemset2DAsync(c.data, stride_bytes, 0, row_bytes, static_cast<std::size_t>(c.rows), on.stream),
                    "a dense product");
        }
        return;
    }
    const cublasComputeType_t type = mode == GemmMode::pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
    const float one = 1, old = accumulate ? 1.0F : 0.0F;
    const cublasStatus_t status =
        cublasGemmEx_64(static_cast<cublasHandle_t>(on.blas), operation(transpose_b), operation(transpose_a), c.columns,
                        c.rows, inner, &one, b.data, CUDA_R_32F, b.stride, a.data, CUDA_R_32F, a.stride, &old, c.data,
                        CUDA_R_32F, c.stride, type, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) {
        on.note(cudaErrorUnknown, "a dense product", cublasGetStatusName(status));
    }
}

void gemm(Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, bool accumulate) {
    gemm_in(GemmMode::pedantic, transpose_a, transpose_b, a, b, c, accumulate);
}

}  // namespace gnnplan::kernels::cuda
