// The queue of the calling thread's device: where its kernels run, and memory that they may use while they do.
#pragma once

#include <cstddef>
#include <span>

#include <cuda_runtime.h>

namespace gnnplan::kernels::cuda {

struct Queue {
    cudaStream_t stream = nullptr;
    std::span<std::byte>
        scratch;           // on the device, 256-byte aligned; kernels run one after the other, so each has it whole
    int processors = 1;    // multiprocessors of the device
    void* blas = nullptr;  // a cublasHandle_t whose stream is `stream` and whose workspace is `scratch`
    // The first error of what was queued; it comes out of Device::finish().
    cudaError_t failed = cudaSuccess;
    const char* failed_in = nullptr;

    void note(cudaError_t result, const char* what) {
        if (failed == cudaSuccess && result != cudaSuccess) failed = result, failed_in = what;
    }
};

Queue& queue();  // of this thread's device

}  // namespace gnnplan::kernels::cuda
