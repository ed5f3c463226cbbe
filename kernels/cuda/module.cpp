// The door of libgnnplan_cuda.so.
#include "kernels/backend_module.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/gpu.hpp"

namespace gnnplan::kernels {
namespace {

constexpr BackendModule offered = {
    .interface = GNNPLAN_DEVICE_INTERFACE,
    .device_name =
        [](int local_rank) {
            const cuda::Gpu gpu = cuda::choose_gpu(local_rank);
            return gpu.name + ", number " + std::to_string(gpu.index);
        },
    .open = [](int local_rank) { return cuda::cuda_device(cuda::choose_gpu(local_rank)); },
};

}  // namespace
}  // namespace gnnplan::kernels

extern "C" __attribute__((visibility("default"))) const gnnplan::kernels::BackendModule* gnnplan_backend_module() {
    return &gnnplan::kernels::offered;
}
