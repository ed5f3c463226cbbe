// The CUDA backend's allocations beside tensors, which plans for its devices count.
#pragma once

#include <gnnplan/base/tensor_memory.hpp>

#include <cstdint>

namespace gnnplan {

// For its kernels and for cuBLAS: what NVIDIA recommends for cuBLAS on its newest GPUs, which is no less than on older
// ones.
inline constexpr std::int64_t cuda_scratch_bytes = std::int64_t{32} << 20;

// At most, for what it makes of sparse blocks to multiply them faster. Blocks for which there is no room are multiplied
// without.
inline constexpr std::int64_t cuda_prepared_bytes = std::int64_t{96} << 20;

inline constexpr std::int64_t cuda_workspace_bytes = cuda_scratch_bytes + cuda_prepared_bytes;
inline constexpr TensorMemory cuda_tensor_memory = {
    .accelerator = true, .workspace_bytes = cuda_workspace_bytes, .row_start_bytes = 4};

}  // namespace gnnplan
