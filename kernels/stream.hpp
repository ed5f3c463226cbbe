// The one definition of the random streams, shared by every backend. Internal to kernels/.
//
// A stream is a Philox4x32-10 key derived from (seed, use, a, b): the first two words of Philox under the key
// (seed low, seed high) at the counter (use, a, b, 0). Uses and their (a, b): draws (stream, 0), weights (layer, 0),
// dropout and attention (epoch, layer). Inside a stream the counter is (column low, column high, row low, row high),
// both global.
//
// Dropout, of elements or of attention, reads one counter per group of eight global columns, group = column / 8 in the
// place of the column; its four words are eight 16-bit draws, word 0 first, low half first, for columns 8 * group .. 8
// * group + 7. An element survives if draw >= threshold = round(p * 65536), so p is honoured to 2^-17.
#pragma once

#include <array>
#include <cstdint>

namespace gnnplan::kernels {

enum class StreamUse : std::uint32_t { draws = 0, weights = 1, dropout = 2, attention = 3 };

struct StreamKey {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
};

StreamKey stream_key(std::uint64_t seed, StreamUse use, std::uint32_t a, std::uint32_t b);

// The four words of the stream at (row, column).
std::array<std::uint32_t, 4> stream_words(StreamKey key, std::uint64_t row, std::uint64_t column);

// Columns that share a counter in dropout streams.
inline constexpr std::int64_t dropout_group = 8;

// Draws below this are dropped; in 0 .. 65535, so some elements survive for every p < 1.
std::uint32_t dropout_threshold(float probability);

}  // namespace gnnplan::kernels
