// bfloat16: the upper half of a float, as which dense operands of products may be kept in cache.
#pragma once

#include <cstdint>

namespace gnnplan::kernels {

struct Bf16 {
    std::uint16_t bits = 0;
};

}  // namespace gnnplan::kernels
