// The GPU that a rank computes on.
#pragma once

#include <cstdint>
#include <string>

namespace gnnplan::kernels::cuda {

struct Gpu {
    int index = 0;  // among those that CUDA_VISIBLE_DEVICES leaves
    std::string name;
    std::string unique_id;  // no two GPUs have the same
    int processors = 1;
    std::int64_t l2_bytes = 0;
};

// The ranks of a machine, counted from 0, take its GPUs in turn. Throws Error{unavailable} where there is no driver,
// one that is too old, no GPU, or one that is too old.
Gpu choose_gpu(int local_rank);

// "13.0" of 13000.
std::string version_text(int version);

}  // namespace gnnplan::kernels::cuda
