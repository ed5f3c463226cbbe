// Element types of tensors and the bytes they take.
#pragma once

#include <cstdint>

namespace gnnplan {

enum class DType : std::uint8_t { f32, f64, i32, u8, bits };

// Bytes of `count` elements stored densely. Bits are packed: ceil(count / 8).
constexpr std::int64_t bytes_of(DType dtype, std::int64_t count) {
    switch (dtype) {
        case DType::f32:
        case DType::i32: return 4 * count;
        case DType::f64: return 8 * count;
        case DType::u8: return count;
        case DType::bits: return (count + 7) / 8;
    }
    return 0;
}

}  // namespace gnnplan
