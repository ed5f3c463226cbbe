// Helpers that kernels on packed bit matrices share.
#pragma once

#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {

// Table::positive_mask of the rows first .. last - 1; first is a multiple of eight, so that their bits begin a byte.
void pack_rows(const VectorKernels& kernels, ConstMatrix h, std::uint8_t* bits, std::int64_t first, std::int64_t last);

}  // namespace gnnplan::kernels::cpu
