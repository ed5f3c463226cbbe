// Rows of a dense operand that a product copies, because they lie badly in memory.
#pragma once

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>

namespace gnnplan {

// How the rows of a dense operand that one panel of a block of `columns` meets are copied before they are multiplied:
// a slice of their columns, in whole units of memory (Blocking). In bf16 rows are always copied. In fp32 those of
// several panels are read as they are if
//   - each begins with a unit, and they are one slice or an odd number of units long: then a slice of all rows uses
//     every set of a cache, or
//   - they are at most a unit long;
// those of a single panel if
//   - each begins with a unit or lies within one,
//   - a slice of them would not stay in the cache: the copy would take as much memory as they do, or
//   - the blocking packs no single panels: on CPUs their rows are read as often as they would be copied.
struct PackedPanel {
    std::int64_t rows = 0;    // of the largest panel; 0 where rows are read as they are
    std::int64_t slices = 1;  // of each row
    std::int64_t stride = 0;  // elements of a packed row
    std::int64_t element_bytes = 4;

    std::int64_t row_bytes() const { return element_bytes * stride; }
    std::int64_t bytes() const { return rows * row_bytes(); }
};
PackedPanel packed_panel(const Blocking& blocking, std::int64_t columns, std::int64_t panel_columns, std::int64_t width,
                         bool bf16);

// The largest panel that a product packs; smaller ones are cut into slices of as many columns. None with overlap, which
// multiplies in small portions, nor where rows that nobody needs are left out, which makes panels uneven, nor of
// several operands. Maxima pack no single panel.
PackedPanel packed_panel(const Schedule& schedule, const SpmmStep& step, int rank);

}  // namespace gnnplan
