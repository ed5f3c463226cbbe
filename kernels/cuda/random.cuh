// The random streams of kernels/stream.hpp in device code: the same numbers as on the processor.
#pragma once

#include "kernels/attention.hpp"
#include "kernels/random.hpp"
#include "kernels/stream.hpp"

#include <Random123/philox.h>

#include <cuda_runtime.h>

namespace gnnplan::kernels::cuda {

using Words = r123::Philox4x32::ctr_type;

__device__ inline std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
__device__ inline std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

__device__ inline Words philox(std::uint32_t key0, std::uint32_t key1, std::uint32_t x, std::uint32_t y,
                               std::uint32_t z, std::uint32_t w) {
    const r123::Philox4x32::key_type key = {{key0, key1}};
    const Words counter = {{x, y, z, w}};
    return r123::Philox4x32()(counter, key);
}

__device__ inline StreamKey stream_of(std::uint64_t seed, StreamUse use, std::uint32_t a, std::uint32_t b) {
    const Words words = philox(low_word(seed), high_word(seed), static_cast<std::uint32_t>(use), a, b, 0);
    return {words.v[0], words.v[1]};
}

// The streams that decide what dropout drops in this pass.
__device__ inline StreamKey dropout_stream(const DropoutKey& key) {
    return stream_of(key.seed, StreamUse::dropout, key.pass->epoch, key.layer);
}
__device__ inline StreamKey attention_stream(const AttentionDropout& dropout) {
    return stream_of(dropout.seed, StreamUse::attention, dropout.pass->epoch, dropout.layer);
}

// The eight draws of a group of columns, two in each word.
__device__ inline Words dropout_draws(StreamKey stream, std::int64_t row, std::int64_t group) {
    const auto r = static_cast<std::uint64_t>(row);
    const auto g = static_cast<std::uint64_t>(group);
    return philox(stream.low, stream.high, low_word(g), high_word(g), low_word(r), high_word(r));
}

}  // namespace gnnplan::kernels::cuda
