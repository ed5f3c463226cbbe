// Reading guide: the columns of a product are cut into slices, and each slice is multiplied panel after panel. What the
// threads read at one time is then a slice of the rows of B that one panel meets, which stays in the shared cache.
// Where there is room for it, that slice is copied first. Threads take chunks of rows of about equal numbers of
// nonzeros as they come; every row is the work of one of them.
#include <algorithm>

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/range.hpp>

#include "kernels/bf16.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/row_chunks.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// A result this large is out of cache before anybody reads it again.
constexpr std::int64_t streamed_bytes = std::int64_t{32} << 20;

constexpr Blocking blocking;  // of CPUs

// One panel by the kernel for the operand's elements.
void multiply_panel(const Csr& a, ConstMatrix b, Matrix c, Store store) {
    in_chunks(a, c.columns, [&](Range rows) { best_kernels().spmm_rows(a, b, c, store, rows.begin, rows.end); });
}
void multiply_panel(const Csr& a, Dense<const Bf16> b, Matrix c, Store store) {
    in_chunks(a, c.columns, [&](Range rows) { best_kernels().spmm_rows_bf16(a, b, c, store, rows.begin, rows.end); });
}

template <class T>
Dense<T> columns_of(Dense<T> whole, Range columns) {
    return {whole.data + columns.begin, whole.rows, columns.size(), whole.stride};
}

void copy_row(const float* from, float* to, std::int64_t columns) { std::copy_n(from, columns, to); }
void copy_row(const float* from, Bf16* to, std::int64_t columns) { best_kernels().to_bf16(from, to, columns); }

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
ConstMatrix operand_of(const SlicePanel& at, ConstMatrix b, std::span<std::byte> room) {
    const ConstMatrix from = columns_of(b, at.columns);
    const auto bytes = static_cast<std::int64_t>(room.size());
    if (room.empty() || at.met.size() * at.stride * std::int64_t{sizeof(float)} > bytes) return from;
    return packed_rows<float>(from, at.met, at.stride, room);
}

}  // namespace

void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room) {
    by_slices_and_panels(a, c.rows, c.columns, room, accumulate, [&](const SlicePanel& at) {
        const Csr panel = a.panel(at.panel);
        const Matrix to = columns_of(c, at.columns);
        if (room.bf16) {
            const ConstMatrix from = columns_of(b, at.columns);
            multiply_panel(panel, packed_rows<Bf16>(from, at.met, at.stride, room.memory), to, at.store);
        } else {
            multiply_panel(panel, operand_of(at, b, room.memory), to, at.store);
        }
    });
}

void spmm_max(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, bool accumulate, std::span<std::byte> memory) {
    by_slices_and_panels(a, maxima.rows, maxima.columns, {memory}, accumulate, [&](const SlicePanel& at) {
        const Csr panel = a.panel(at.panel);
        const ConstMatrix from = operand_of(at, b, memory);
        const Matrix largest = columns_of(maxima, at.columns);
        const Matrix counts = columns_of(ties, at.columns);
        in_chunks(panel, at.columns.size(), [&](Range rows) {
            best_kernels().spmm_max_rows(panel, from, largest, counts, at.store, rows.begin, rows.end);
        });
    });
}

void spmm_max_back(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c, bool accumulate) {
    by_slices_and_panels(a, c.rows, c.columns, {}, accumulate, [&](const SlicePanel& at) {
        const Csr panel = a.panel(at.panel);
        const ConstMatrix shares = columns_of(gradient, at.columns);
        const ConstMatrix largest = columns_of(maxima, at.columns);
        const ConstMatrix rows_of_c = columns_of(own, at.columns);
        const Matrix to = columns_of(c, at.columns);
        in_chunks(panel, 2 * at.columns.size(), [&](Range rows) {
            best_kernels().spmm_max_back_rows(panel, shares, largest, rows_of_c, to, at.store, rows.begin, rows.end);
        });
    });
}

}  // namespace gnnplan::kernels::cpu
