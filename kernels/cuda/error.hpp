// Statuses of CUDA and its libraries as errors that a user can act on.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <string>

namespace gnnplan::kernels::cuda {

// Throws Error{unavailable}: `what` failed, why, and what to do. `status` is what a library such as cuBLAS calls its
// failure; without one the words are CUDA's.
[[noreturn]] void fail(cudaError_t result, const std::string& what, const char* status = nullptr);

// The same unless it went well.
void check(cudaError_t result, const char* what);
void check(cublasStatus_t result, const char* what);
void check(cusparseStatus_t result, const char* what);

}  // namespace gnnplan::kernels::cuda
