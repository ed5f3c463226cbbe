#include "kernels/cuda/gpu.hpp"

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/table.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdlib>

namespace gnnplan::kernels::cuda {
namespace {

Error unavailable(const std::string& what, const std::string& hint) {
    return {ErrorCode::unavailable, what, "cuda", hint};
}

Error driver_error() {
    int driver = 0;
    int needed = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || cudaRuntimeGetVersion(&needed) != cudaSuccess) driver = 0;
    if (driver == 0) {
        return unavailable("this machine has no NVIDIA driver", "install one for CUDA " + version_text(CUDART_VERSION) +
                                                                    " or later, or train with `backend cpu`");
    }
    return unavailable("the NVIDIA driver is for CUDA " + version_text(driver) + ", and this build needs " +
                           version_text(needed) + " or later",
                       "install a newer driver, or build with an older toolkit");
}

int count_gpus() {
    int count = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaErrorInsufficientDriver) throw driver_error();
    if (result != cudaSuccess && result != cudaErrorNoDevice) fail(result, "looking for GPUs");
    if (result == cudaSuccess && count > 0) return count;
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    throw unavailable("no GPU is there", visible == nullptr
                                             ? "nvidia-smi -L lists what the driver sees"
                                             : "CUDA_VISIBLE_DEVICES is \"" + std::string(visible) + "\"");
}

}  // namespace

Gpu choose_gpu(int local_rank) {
    Gpu gpu;
    gpu.index = local_rank % count_gpus();
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, gpu.index), "asking the GPU what it is");
    gpu.name = properties.name;
    gpu.unique_id.assign(properties.uuid.bytes, sizeof properties.uuid.bytes);
    gpu.processors = properties.multiProcessorCount;
    gpu.l2_bytes = properties.l2CacheSize;
    if (10 * properties.major + properties.minor < oldest_gpu()) {
        throw unavailable(gpu.name + " has compute capability " + std::to_string(properties.major) + "." +
                              std::to_string(properties.minor) + ", and kernels need " +
                              std::to_string(oldest_gpu() / 10) + "." + std::to_string(oldest_gpu() % 10) + " or more",
                          "CUDA_VISIBLE_DEVICES chooses another, `backend cpu` needs none");
    }
    return gpu;
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace gnnplan::kernels::cuda
