// The one function of cuBLAS that kernels/cuda calls, as plain loops: fibres do not run libraries.
#pragma once

#include "tests/support/host_cuda/cuda_runtime.h"

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };
enum cudaDataType_t { CUDA_R_32F };

inline const char* cublasGetStatusName(cublasStatus_t /*status*/) { return "CUBLAS_STATUS_INVALID_VALUE"; }

// c = alpha op(a) op(b) + beta c, all of them by columns: element (i, j) of a matrix x is x[i + j * ld].
inline cublasStatus_t cublasGemmEx_64(cublasHandle_t /*handle*/, cublasOperation_t operation_a,
                                      cublasOperation_t operation_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                      const void* alpha, const void* a, cudaDataType_t /*a_type*/, std::int64_t lda,
                                      const void* b, cudaDataType_t /*b_type*/, std::int64_t ldb, const void* beta,
                                      void* c, cudaDataType_t /*c_type*/, std::int64_t ldc,
                                      cublasComputeType_t /*compute_type*/, cublasGemmAlgo_t /*algorithm*/) {
    const bool turned_a = operation_a == CUBLAS_OP_T, turned_b = operation_b == CUBLAS_OP_T;
    if (m < 1 || n < 1 || k < 1 || lda < (turned_a ? k : m) || ldb < (turned_b ? n : k) || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto* const from_a = static_cast<const float*>(a);
    const auto* const from_b = static_cast<const float*>(b);
    const float scale = *static_cast<const float*>(alpha), old = *static_cast<const float*>(beta);
    for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
            float sum = 0;
            for (std::int64_t l = 0; l < k; ++l) {
                sum += from_a[turned_a ? l + i * lda : i + l * lda] * from_b[turned_b ? j + l * ldb : l + j * ldb];
            }
            float& to = static_cast<float*>(c)[i + j * ldc];
            to = scale * sum + (old == 0 ? 0.0F : old * to);
        }
    }
    return CUBLAS_STATUS_SUCCESS;
}
