// The queue of the calling thread's device: where its kernels run, and memory that they may use while they do.
#pragma once

#include <gnnplan/base/blocking.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <cuda_runtime.h>

namespace gnnplan::kernels::cuda {

struct Queue {
    cudaStream_t stream = nullptr;
    // On the device, 256-byte aligned; kernels run one after the other, so each has it whole.
    std::span<std::byte> scratch;
    int processors = 1;      // multiprocessors of the device
    Blocking blocking{};     // of products, by the size of its L2
    void* blas = nullptr;    // a cublasHandle_t whose stream is `stream` and whose workspace is `scratch`
    void* sparse = nullptr;  // a cusparseHandle_t, or null before sparse_library() has made it
    // The first error of what was queued; it comes out of Device::finish().
    cudaError_t failed = cudaSuccess;
    const char* failed_in = nullptr;
    const char* failed_status = nullptr;  // what a library calls it

    // Called every now and then while the host waits for the device; may throw.
    std::function<void()> look = [] {};

    void note(cudaError_t result, const char* what, const char* status = nullptr) {
        if (failed != cudaSuccess || result == cudaSuccess) return;
        failed = result, failed_in = what, failed_status = status;
    }
};

Queue& queue();  // of this thread's device

// The cusparseHandle_t of this thread's device, whose stream is the queue's. It is made when it is asked for first,
// since it takes time and memory that runs without products of cuSPARSE need not spend. Throws Error{unavailable}.
void* sparse_library();

}  // namespace gnnplan::kernels::cuda
