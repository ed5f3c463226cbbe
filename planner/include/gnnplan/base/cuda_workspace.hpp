// What the CUDA backend allocates once for its kernels and for cuBLAS, and what plans for its devices count.
#pragma once

#include <cstdint>

namespace gnnplan {

// What NVIDIA recommends for cuBLAS on its newest GPUs, which is no less than on older ones.
inline constexpr std::int64_t cuda_workspace_bytes = std::int64_t{32} << 20;

}  // namespace gnnplan
