// cuBLAS's handle, whose products are in its stream; see cuda_runtime.h.
#pragma once

#include "tests/support/host_cuda/cublas_v2.h"
#include "tests/support/host_runtime/cuda_runtime.h"

enum cublasMath_t { CUBLAS_DEFAULT_MATH };

cublasStatus_t cublasGetProperty(libraryPropertyType part, int* number);
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
// Refused before the stream is set, which would take the workspace away again.
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);

namespace gnnplan::testing::host_runtime {

cudaStream_t stream_of(cublasHandle_t handle);
bool products_fail();

template <class... Rest>
cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b,
                        std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, const void* a,
                        cudaDataType_t a_type, std::int64_t lda, const void* b, cudaDataType_t b_type, std::int64_t ldb,
                        const void* beta, Rest... rest) {
    if (handle == nullptr || products_fail()) return CUBLAS_STATUS_INVALID_VALUE;
    const float scale = *static_cast<const float*>(alpha), old = *static_cast<const float*>(beta);
    const cudaError_t queued = enqueue(stream_of(handle), [=] {
        const cublasStatus_t status = cublasGemmEx_64(handle, operation_a, operation_b, m, n, k, &scale, a, a_type, lda,
                                                      b, b_type, ldb, &old, rest...);
        return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
    });
    return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace gnnplan::testing::host_runtime

#define cublasGemmEx_64 gnnplan::testing::host_runtime::multiply
