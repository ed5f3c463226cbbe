#include "kernels/cuda/error.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::kernels::cuda {
namespace {

constexpr const char* library_hint =
    "CUDA's libraries, the driver and the GPU have to fit each other: nvidia-smi shows the driver's version";

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
        case cudaErrorSystemNotReady:
            return "a service that the driver needs is not running: on machines with NVSwitch nvidia-fabricmanager, of "
                   "the driver's version";
        case cudaErrorSystemDriverMismatch:
            return "libcuda and the kernel's driver are of different versions: restart after an update of the driver; "
                   "in a container, use no libcuda but the host's";
        case cudaErrorCompatNotSupportedOnDevice:
            return "this GPU cannot use the driver's forward compatibility (CUDA's cuda-compat): leave it out of "
                   "LD_LIBRARY_PATH, install a newer driver, or build with an older toolkit";
        case cudaErrorMpsConnectionFailed:
            return "CUDA_MPS_PIPE_DIRECTORY names an MPS daemon that does not answer: start it, or unset the variable";
        case cudaErrorUnknown:
            return "the driver failed by itself: nvidia-smi and the kernel's log (dmesg) say more; loading the module "
                   "nvidia_uvm or a restart of the machine often helps";
        default: return "run again with CUDA_LAUNCH_BLOCKING=1; if it fails again, please report it";
    }
}

}  // namespace

void fail(cudaError_t result, const std::string& what, const char* status) {
    throw Error(ErrorCode::unavailable, what + " failed: " + (status != nullptr ? status : cudaGetErrorString(result)),
                "cuda", status != nullptr ? library_hint : hint(result));
}

void check(cudaError_t result, const char* what) {
    if (result != cudaSuccess) fail(result, what);
}

void check(cublasStatus_t result, const char* what) {
    if (result != CUBLAS_STATUS_SUCCESS) fail(cudaErrorUnknown, what, cublasGetStatusName(result));
}

void check(cusparseStatus_t result, const char* what) {
    if (result != CUSPARSE_STATUS_SUCCESS) fail(cudaErrorUnknown, what, cusparseGetErrorName(result));
}

}  // namespace gnnplan::kernels::cuda
