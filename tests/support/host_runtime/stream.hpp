// A stream of the host's runtime as libraries see it that are opened beside the CUDA backend.
#pragma once

#include "tests/support/host_runtime/cuda_runtime.h"

#include <functional>

namespace gnnplan::testing::host_runtime {

// `run` may be called when `ready` says so, or at any time without one; it returns cudaErrorNotReady while it has more
// to do.
struct Work {
    std::function<cudaError_t()> run;
    std::function<bool()> ready;
};

class Stream {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;
    virtual cudaError_t enqueue(Work work) = 0;
};

}  // namespace gnnplan::testing::host_runtime
