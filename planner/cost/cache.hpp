// A machine's caches, as its measured gather curve shows them.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>

namespace gnnplan::cost {

// The largest working set that rows of the dense operand are gathered from at speed: measured at rows of 512 bytes, or
// the width next to that, faster than the geometric mean of the best and the worst rate. Sizes of caches by the C
// library or the system play no part. 0 when no curve was measured, or when it does not fall.
std::int64_t gathered_cache_bytes(const Machine& machine);

}  // namespace gnnplan::cost
