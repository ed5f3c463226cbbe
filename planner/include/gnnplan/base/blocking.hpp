// How a product takes its dense operand through the caches of the machine that computes it: a slice of columns at a
// time, whose rows are copied first where they do not lie well in memory. And how wide the row starts of its sparse
// operand are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gnnplan {

// By default that of CPUs.
struct Blocking {
    std::int64_t unit_bytes = 64;  // that memory gives at a time: a cache line, or a sector of a GPU
    // Rows gathered from memory come at the more bytes per second the longer they are, up to about 512 bytes; longer
    // ones only take more cache.
    std::int64_t slice_columns = 160;       // at most, of a slice
    std::int64_t cache_bytes = 0;           // in which the rows of a slice should stay; 0: slices need not
    std::int64_t least_slice_columns = 32;  // where only narrower ones would stay there, slices need not
    bool packs_single_panels = false;       // a sum copies rows that begin within a unit even of a single panel
    std::int64_t row_start_bytes = 8;       // 4 or 8; see row_start_bytes()
    bool operator==(const Blocking&) const = default;

    // Whether the thread that has made rows of a dense product does what follows to them while they are in its caches:
    // a CPU's does, and a GPU runs one kernel after the other.
    constexpr bool finishes_products() const { return !packs_single_panels; }
};

// That of a GPU. Reads from the L2 of an H100 PCIe keep their speed up to 33 of its 50 MB (gpu-l2-cache of
// github.com/te42kyfo/gpu-benches): two thirds are assumed of all GPUs until they are measured. Kernels multiply at
// most two vectors of four floats for each lane of a warp. Rows are read hundreds of times, so that copying them once
// pays.
constexpr Blocking gpu_blocking(std::int64_t l2_bytes) {
    return {.unit_bytes = 32,
            .slice_columns = 256,
            .cache_bytes = l2_bytes / 3 * 2,
            .packs_single_panels = true,
            .row_start_bytes = 4};
}

// Bytes of each row start of a sparse block, as it is stored and sent: 32 bits count no more than 2^31 - 1 nonzeros.
constexpr std::int64_t row_start_bytes(const Blocking& blocking, std::int64_t nonzeros) {
    return nonzeros <= std::numeric_limits<std::int32_t>::max() ? blocking.row_start_bytes : 8;
}

struct ColumnSlices {
    std::int64_t count = 1;
    std::int64_t columns = 0;  // of each, in whole units; the last one has what is left
};

// Cuts `rows` rows of so many columns, with elements of `element_bytes`, into slices that are about equal.
constexpr ColumnSlices column_slices(const Blocking& blocking, std::int64_t rows, std::int64_t columns,
                                     std::int64_t element_bytes) {
    const std::int64_t unit = blocking.unit_bytes / element_bytes;
    const std::int64_t fitting = blocking.cache_bytes / (std::max<std::int64_t>(rows, 1) * element_bytes);
    const bool bounded = fitting >= std::max(blocking.least_slice_columns, unit);
    const std::int64_t most =
        bounded ? std::min(blocking.slice_columns, fitting / unit * unit) : blocking.slice_columns;
    const std::int64_t units = (columns + unit - 1) / unit;
    const std::int64_t count = std::max<std::int64_t>(1, (columns + most - 1) / most);
    return {count, (units + count - 1) / count * unit};
}

}  // namespace gnnplan
