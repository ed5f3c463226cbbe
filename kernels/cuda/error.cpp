#include "kernels/cuda/error.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::kernels::cuda {
namespace {

const char* hint(cudaError_t result) {
    switch (result) {
        case cudaErrorMemoryAllocation: return "other programs may use the GPU: nvidia-smi shows them";
        case cudaErrorDevicesUnavailable: return "another program has the GPU for itself: nvidia-smi shows it";
        case cudaErrorECCUncorrectable:
        case cudaErrorHardwareStackError: return "the GPU is damaged or has to be reset: nvidia-smi -q says more";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
        case cudaErrorUnsupportedPtxVersion:
            return "the build has no code for this GPU: configure with -DCMAKE_CUDA_ARCHITECTURES=native";
        default: return "run again with CUDA_LAUNCH_BLOCKING=1; if it fails again, please report it";
    }
}

void check_library(bool well, const char* what, const char* why, const char* library) {
    if (well) return;
    throw Error(ErrorCode::unavailable, std::string(what) + " failed: " + why, "cuda",
                std::string(library) + " and the driver have to fit each other: nvidia-smi shows the driver's version");
}

}  // namespace

void fail(cudaError_t result, const std::string& what) {
    throw Error(ErrorCode::unavailable, what + " failed: " + cudaGetErrorString(result), "cuda", hint(result));
}

void check(cudaError_t result, const char* what) {
    if (result != cudaSuccess) fail(result, what);
}

void check(cublasStatus_t result, const char* what) {
    check_library(result == CUBLAS_STATUS_SUCCESS, what, cublasGetStatusString(result), "cuBLAS");
}

void check(cusparseStatus_t result, const char* what) {
    check_library(result == CUSPARSE_STATUS_SUCCESS, what, cusparseGetErrorString(result), "cuSPARSE");
}

}  // namespace gnnplan::kernels::cuda
