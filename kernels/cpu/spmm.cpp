// Reading guide: the columns of a product are cut into slices, and each slice is multiplied panel after panel. What the
// threads read at one time is then a slice of the rows of B that one panel meets, which stays in the shared cache.
// Where there is room for it, that slice is copied first. Threads take chunks of rows of about equal numbers of
// nonzeros as they come; every row is the work of one of them.
#include <algorithm>

#include <gnnplan/base/range.hpp>
#include <gnnplan/base/slices.hpp>

#include "kernels/bf16.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// A result this large is out of cache before anybody reads it again.
constexpr std::int64_t streamed_bytes = std::int64_t{32} << 20;

constexpr std::int64_t chunks_per_thread = 32;

// First row of part i of `parts` with equal shares of rows + nonzeros: counting rows too keeps long runs of empty rows
// from landing in one part.
std::int64_t first_row_of_part(const Csr& a, std::int64_t i, std::int64_t parts) {
    const std::int64_t total = a.rows + a.nonzeros();
    const std::int64_t share = total / parts * i + total % parts * i / parts;
    std::int64_t low = 0;
    std::int64_t high = a.rows;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (middle + a.row_start[middle] - a.row_start[0] < share) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Rows first .. last - 1 of the product by the kernel for the operand's elements.
void multiply_rows(const Csr& a, ConstMatrix b, Matrix c, Store store, Range rows) {
    best_kernels().spmm_rows(a, b, c, store, rows.begin, rows.end);
}
void multiply_rows(const Csr& a, Dense<const Bf16> b, Matrix c, Store store, Range rows) {
    best_kernels().spmm_rows_bf16(a, b, c, store, rows.begin, rows.end);
}

template <class Element>
void multiply_panel(const Csr& panel, Dense<const Element> b, Matrix c, Store store) {
    const std::int64_t work = (panel.rows + panel.nonzeros()) * c.columns;
    const std::int64_t parts = std::min(panel.rows, chunks_per_thread * max_threads());
    parallel_for(parts, work, Schedule::dynamic, [&](std::int64_t i) {
        const std::int64_t first = first_row_of_part(panel, i, parts);
        const std::int64_t last = i + 1 == parts ? panel.rows : first_row_of_part(panel, i + 1, parts);
        if (first < last) multiply_rows(panel, b, c, store, {first, last});
    });
}

template <class T>
Dense<T> columns_of(Dense<T> whole, std::int64_t first, std::int64_t count) {
    return {whole.data + first, whole.rows, count, whole.stride};
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

bool has_room(const PanelRoom& room, std::int64_t elements, std::int64_t element_bytes) {
    return !room.memory.empty() && elements * element_bytes <= static_cast<std::int64_t>(room.memory.size());
}

}  // namespace

void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room) {
    if (c.rows == 0 || c.columns == 0) return;
    const Store once = c.rows * c.columns * 4 >= streamed_bytes ? Store::nontemporal : Store::write;
    const std::int64_t element_bytes = room.bf16 ? sizeof(Bf16) : sizeof(float);
    const std::int64_t slice = column_slices(c.columns, element_bytes).columns;
    for (std::int64_t first = 0; first < c.columns; first += slice) {
        const std::int64_t count = std::min(slice, c.columns - first);
        const ConstMatrix from = columns_of(b, first, count);
        const Matrix to = columns_of(c, first, count);
        for (std::int64_t p = 0; p < a.panels; ++p) {
            const Store store = accumulate || p > 0 ? Store::add : once;
            const Range met = balanced_block({0, a.columns}, p, a.panels);
            const std::int64_t line = line_bytes / element_bytes;
            const std::int64_t stride = (count + line - 1) / line * line;
            if (room.bf16) {
                multiply_panel(a.panel(p), packed_rows<Bf16>(from, met, stride, room.memory), to, store);
            } else if (has_room(room, met.size() * slice, element_bytes)) {
                multiply_panel(a.panel(p), packed_rows<float>(from, met, stride, room.memory), to, store);
            } else {
                multiply_panel(a.panel(p), from, to, store);
            }
        }
    }
}

}  // namespace gnnplan::kernels::cpu
