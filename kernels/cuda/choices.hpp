// Choices between ways to compute the same, made when kernels are compiled: -DGNNPLAN_CUDA_...=VALUE flips one. They
// are here so that modules built with each of them can be compared on a GPU (docs/gpu.md).
#pragma once

// 1: the columns and values of nonzeros are loaded past the caches, which leaves these to rows of the dense operand. On
// graphs of many nonzeros that should keep a slice of the operand in the L2.
#ifndef GNNPLAN_CUDA_STREAMING_LOADS
#define GNNPLAN_CUDA_STREAMING_LOADS 1
#endif

// 1: results of products, maxima and attention are stored so that they leave the caches first, for the same reason. Who
// reads a small result next may then find less of it in the L2.
#ifndef GNNPLAN_CUDA_STREAMING_STORES
#define GNNPLAN_CUDA_STREAMING_STORES 1
#endif

// 1: a group of many lanes has several shares of a sweep, one after the other, and looks for its place once. That
// should help on sparse graphs from 64 columns on.
#ifndef GNNPLAN_CUDA_SHARES_BY_LANES
#define GNNPLAN_CUDA_SHARES_BY_LANES 1
#endif

// 1: the columns and values of the next nonzeros are loaded before the rows of these are gathered. It was expected to
// help in small groups; where it took more registers, products on an H200 were slower for it (bench/results/gpu.md).
#ifndef GNNPLAN_CUDA_LOADS_AHEAD
#define GNNPLAN_CUDA_LOADS_AHEAD 0
#endif

// 3 or 2: how many blocks of attention's kernels a multiprocessor has from compute capability 9.0 on, where a lane has
// one vector. With three, 24 warps hide each other's loads instead of 16.
#ifndef GNNPLAN_CUDA_ATTENTION_BLOCKS
#define GNNPLAN_CUDA_ATTENTION_BLOCKS 3
#endif

// 1: where rows of an operand are copied, and values of a matrix are factored, the copy has the scales of its columns,
// so that no scale is gathered for each nonzero. That should help up to 16 columns. But the scaled rows are rounded, so
// that the bits of a column depend on whether so many columns are copied.
#ifndef GNNPLAN_CUDA_SCALED_COPIES
#define GNNPLAN_CUDA_SCALED_COPIES 0
#endif

namespace gnnplan::kernels::cuda::choices {

inline constexpr bool streaming_loads = GNNPLAN_CUDA_STREAMING_LOADS != 0;
inline constexpr bool streaming_stores = GNNPLAN_CUDA_STREAMING_STORES != 0;
inline constexpr bool shares_by_lanes = GNNPLAN_CUDA_SHARES_BY_LANES != 0;
inline constexpr bool loads_ahead = GNNPLAN_CUDA_LOADS_AHEAD != 0;
inline constexpr bool scaled_copies = GNNPLAN_CUDA_SCALED_COPIES != 0;
inline constexpr int attention_blocks = GNNPLAN_CUDA_ATTENTION_BLOCKS;

}  // namespace gnnplan::kernels::cuda::choices
