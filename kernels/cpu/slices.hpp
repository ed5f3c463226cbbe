// How sparse products go over a matrix: slices of the columns, and of each the panels one after the other; and the
// copies that are made of the rows of a dense operand that a panel meets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/range.hpp>

#include "kernels/bf16.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"
#include "kernels/table.hpp"

namespace gnnplan::kernels::cpu {

// A result this large is out of cache before anybody reads it again.
inline constexpr std::int64_t streamed_bytes = std::int64_t{32} << 20;

inline constexpr Blocking blocking;  // of CPUs

template <class T>
Dense<T> columns_of(Dense<T> whole, Range columns) {
    return {whole.data + columns.begin, whole.rows, columns.size(), whole.stride};
}

inline void copy_row(const float* from, float* to, std::int64_t columns) { std::copy_n(from, columns, to); }
inline void copy_row(const float* from, Bf16* to, std::int64_t columns) { best_kernels().to_bf16(from, to, columns); }

// The rows of b in `range`, copied to `room` with whole cache lines each, and called what they were in b.
template <class Element>
Dense<const Element> packed_rows(ConstMatrix b, Range range, std::int64_t stride, std::span<std::byte> room) {
    auto* const to = reinterpret_cast<Element*>(room.data());
    const std::int64_t chunk = rows_per_chunk(b.columns);
    parallel_chunks(range.size(), chunk, range.size() * b.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) copy_row(b.row(range.begin + i), to + i * stride, b.columns);
    });
    return {to - range.begin * stride, b.rows, b.columns, stride};
}

// A slice of the columns, and the panel whose entries meet it.
struct SlicePanel {
    Range columns;
    std::int64_t stride;  // of packed rows, in elements
    std::int64_t panel;
    Range met;  // rows of the dense operand
    Store store;
};

// body(SlicePanel) for each slice of `columns`, which are as wide as the room says, if it does, and each panel.
// `result_rows` are those of the result.
template <class Body>
void by_slices_and_panels(const Csr& a, std::int64_t result_rows, std::int64_t columns, const PanelRoom& room,
                          bool accumulate, const Body& body) {
    if (result_rows == 0 || columns == 0) return;
    const Store once = result_rows * columns * 4 >= streamed_bytes ? Store::nontemporal : Store::write;
    const auto element_bytes = static_cast<std::int64_t>(room.bf16 ? sizeof(Bf16) : sizeof(float));
    const ColumnSlices usual = column_slices(blocking, a.columns, columns, element_bytes);
    const std::int64_t slice = room.slice_columns > 0 ? room.slice_columns : usual.columns;
    const std::int64_t line = blocking.unit_bytes / element_bytes;
    for (std::int64_t first = 0; first < columns; first += slice) {
        const Range cut{first, std::min(first + slice, columns)};
        const std::int64_t stride = std::min((cut.size() + line - 1) / line * line, slice);
        for (std::int64_t p = 0; p < a.panels; ++p) {
            const Store store = accumulate || p > 0 ? Store::add : once;
            body(SlicePanel{cut, stride, p, balanced_block({0, a.columns}, p, a.panels), store});
        }
    }
}

// The slice of b, of which the rows that the panel meets are packed where there is room for them.
inline ConstMatrix operand_of(const SlicePanel& at, ConstMatrix b, std::span<std::byte> room) {
    const ConstMatrix from = columns_of(b, at.columns);
    const auto bytes = static_cast<std::int64_t>(room.size());
    if (room.empty() || at.met.size() * at.stride * std::int64_t{sizeof(float)} > bytes) return from;
    return packed_rows<float>(from, at.met, at.stride, room);
}

}  // namespace gnnplan::kernels::cpu
