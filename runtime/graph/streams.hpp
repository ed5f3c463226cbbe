// The random streams of graphs and their generated data, so that no two uses share numbers.
#pragma once

#include "kernels/random.hpp"

#include <cstdint>

namespace gnnplan::data {

enum RandomUse : std::uint32_t {
    feature_stream = 0x100,
    projection_stream,
    split_stream,
    relabel_stream,
    rmat_stream,
    class_stream,
    edge_stream,
    centroid_stream,
    noise_stream,
    order_stream,
    neighbour_stream,
    batch_stream,
};

inline std::uint64_t draw(std::uint64_t seed, RandomUse stream, std::int64_t row, std::int64_t column) {
    return kernels::random_bits(seed, stream, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column));
}

// Uniform in [0, 1), 53 bits.
inline double draw_unit(std::uint64_t seed, RandomUse stream, std::int64_t row, std::int64_t column) {
    return static_cast<double>(draw(seed, stream, row, column) >> 11U) * 0x1p-53;
}

// Uniform in [0, bound) of a uniform number whose high bits count (Lemire 2019, without the rejection: of b random bits
// the bias is below bound / 2^b).
inline std::int64_t below(std::uint64_t random, std::int64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>((Wide{random} * static_cast<std::uint64_t>(bound)) >> 64U);
}

inline std::int64_t draw_below(std::uint64_t seed, RandomUse stream, std::int64_t row, std::int64_t column,
                               std::int64_t bound) {
    return below(draw(seed, stream, row, column), bound);
}

}  // namespace gnnplan::data
