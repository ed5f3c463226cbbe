#include "kernels/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>

#include "kernels/stream.hpp"

namespace gnnplan::kernels {
namespace {

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x & 0xffffffffU); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

// 24 random bits as a float in [0, 1); the conversion is exact.
float unit(std::uint32_t bits) { return static_cast<float>(bits >> 8U) * 0x1p-24F; }

}  // namespace

StreamKey stream_key(std::uint64_t seed, StreamUse use, std::uint32_t a, std::uint32_t b) {
    const r123::Philox4x32::key_type key = {{low_word(seed), high_word(seed)}};
    const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(use), a, b, 0}};
    const auto words = r123::Philox4x32()(counter, key);
    return {words[0], words[1]};
}

std::array<std::uint32_t, 4> stream_words(StreamKey stream, std::uint64_t row, std::uint64_t column) {
    const r123::Philox4x32::key_type key = {{stream.low, stream.high}};
    const r123::Philox4x32::ctr_type counter = {{low_word(column), high_word(column), low_word(row), high_word(row)}};
    const auto words = r123::Philox4x32()(counter, key);
    return {words[0], words[1], words[2], words[3]};
}

std::uint32_t dropout_threshold(float probability) {
    const long threshold = std::lround(static_cast<double>(probability) * 65536.0);
    return static_cast<std::uint32_t>(std::clamp(threshold, 0L, 65535L));
}

void glorot_uniform(std::uint64_t seed, std::uint32_t layer, Matrix weights) {
    const StreamKey key = stream_key(seed, StreamUse::weights, layer, 0);
    const auto bound = static_cast<float>(std::sqrt(6.0 / static_cast<double>(weights.rows + weights.columns)));
    for (std::int64_t i = 0; i < weights.rows; ++i) {
        float* row = weights.row(i);
        for (std::int64_t j = 0; j < weights.columns; ++j) {
            const auto words = stream_words(key, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
            row[j] = bound * (2.0F * unit(words[0]) - 1.0F);
        }
    }
}

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t stream) {
    const StreamKey key = stream_key(seed, StreamUse::draws, stream, 0);
    key_ = {key.low, key.high};
}

std::array<std::uint64_t, 2> RandomStream::at(std::uint64_t row, std::uint64_t column) const {
    const auto words = stream_words({key_[0], key_[1]}, row, column);
    return {std::uint64_t{words[1]} << 32U | words[0], std::uint64_t{words[3]} << 32U | words[2]};
}

std::uint64_t random_bits(std::uint64_t seed, std::uint32_t stream, std::uint64_t row, std::uint64_t column) {
    return RandomStream(seed, stream).at(row, column)[0];
}

float random_unit(std::uint64_t seed, std::uint32_t stream, std::uint64_t row, std::uint64_t column) {
    return unit(high_word(random_bits(seed, stream, row, column)));
}

}  // namespace gnnplan::kernels
