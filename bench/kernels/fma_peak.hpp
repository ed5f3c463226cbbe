// The most that this CPU's fused multiply-add units deliver, the yardstick of dense products.
#pragma once

namespace gnnplan::bench {

// Operations per second of the calling rank's OpenMP team (2 per lane and instruction), with the widest vectors that
// the CPU has: sixteen independent sums per thread, all in registers. Takes about ten milliseconds.
double fma_peak();

// The same work on the calling thread alone, some two milliseconds; returns how many operations it was.
double fma_burst();

}  // namespace gnnplan::bench
