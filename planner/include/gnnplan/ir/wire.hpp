// How elements of matrices travel between ranks.
#pragma once

#include <cstdint>

namespace gnnplan {

// In bfloat16, every element that leaves its rank is rounded once, to nearest, ties to even; those that stay are not,
// and tensors and sums are float32. What counts, decides or is the user's travels as it is: steps of setup, values of
// edges, all-reduces, operands of maxima, and outputs.
enum class Wire : std::uint8_t { fp32, bfloat16 };

constexpr std::int64_t wire_bytes(Wire wire, std::int64_t elements) {
    return (wire == Wire::bfloat16 ? 2 : 4) * elements;
}

}  // namespace gnnplan
