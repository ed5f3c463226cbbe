// Counter-based random numbers (Philox4x32-10, Random123): every rank, layout and P sees the same network without
// communication, because a number depends only on its key and its global (row, column).
#pragma once

#include "kernels/pass_values.hpp"
#include "kernels/views.hpp"

#include <array>
#include <cstdint>

namespace gnnplan::kernels {

// A dropout draw depends on these and on the global position of the element.
struct DropoutKey {
    std::uint64_t seed = 0;
    const PassValues* pass = nullptr;  // whose epoch counts; may be null where nothing is dropped
    std::uint32_t layer = 0;           // the layer whose input is dropped, from 1
    float probability = 0;             // of dropping, 0 <= p < 1; survivors are scaled by 1 / (1 - p)
    std::int64_t first_row = 0;        // global index of the block's row 0
    std::int64_t first_column = 0;     // global index of the block's column 0
    // Global row of each row of the block, where its rows do not follow each other; null: first_row + i.
    const std::int32_t* row_ids = nullptr;
};

// Glorot uniform initial weights of layer `layer` (Glorot & Bengio 2010, eq. 16): U(-a, a), a = sqrt(6 / (rows +
// columns)).
void glorot_uniform(std::uint64_t seed, std::uint32_t layer, Matrix weights);

// One 64-bit draw and one unit float draw of the stream (seed, stream) at (row, column): features, labels, splits.
std::uint64_t random_bits(std::uint64_t seed, std::uint32_t stream, std::uint64_t row, std::uint64_t column);
float random_unit(std::uint64_t seed, std::uint32_t stream, std::uint64_t row, std::uint64_t column);  // in [0, 1)

// The stream with its key made once: 128 bits at (row, column), of which random_bits() has the first 64.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint32_t stream);

    std::array<std::uint64_t, 2> at(std::uint64_t row, std::uint64_t column) const;

private:
    std::array<std::uint32_t, 2> key_;
};

}  // namespace gnnplan::kernels
