// How a product cuts its dense operand by columns: of wide rows it multiplies a slice at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gnnplan {

inline constexpr std::int64_t line_bytes = 64;  // of a cache

// Rows gathered from memory come at the more bytes per second the longer they are, up to about 512 bytes; longer ones
// only take more cache.
inline constexpr std::int64_t slice_columns = 160;

struct ColumnSlices {
    std::int64_t count = 1;
    std::int64_t columns = 0;  // of each, in whole cache lines; the last one has what is left
};

// Cuts rows of so many elements of `element_bytes` into slices that are about equal.
constexpr ColumnSlices column_slices(std::int64_t columns, std::int64_t element_bytes) {
    const std::int64_t line = line_bytes / element_bytes;
    const std::int64_t lines = (columns + line - 1) / line;
    const std::int64_t count = std::max<std::int64_t>(1, (columns + slice_columns - 1) / slice_columns);
    return {count, (lines + count - 1) / count * line};
}

}  // namespace gnnplan
