// The most that a machine delivers to each rank while all ranks are busy: the yardsticks of an epoch's floor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

namespace gnnplan::bench {

// Rates of one rank. Reading is of all that lies `bytes` away: of a working set of that size which is read again and
// again. Writing fills a working set of `bytes`.
struct Peaks {
    double flops_per_second = 0;                                           // fused multiply-adds, 2 each
    std::function<double(std::int64_t bytes)> read, write;                 // bytes a second
    std::function<double(std::int64_t width, std::int64_t bytes)> gather;  // the same, of random rows of so many floats
    double exposed = 1;                   // share of the shorter of reading and writing that the longer does not hide
    std::int64_t second_level_bytes = 0;  // of a thread: what a product reuses from there costs no gather
    std::int64_t memory_bytes = 0;        // a working set of so many bytes lies in memory
    std::optional<double> link_bytes_per_second = {};  // of a rank's messages in one direction; unset: all on one node

    // Seconds of work that reads for so many seconds and writes for so many.
    double together(double reading, double writing) const {
        return std::max(reading, writing) + exposed * std::min(reading, writing);
    }
};

// Measures with ranks * threads threads of this process, all of which do the same at the same time; every figure is the
// best of several. Rates are measured when they are first asked for, and kept.
Peaks measure_peaks(int ranks, int threads);

}  // namespace gnnplan::bench
