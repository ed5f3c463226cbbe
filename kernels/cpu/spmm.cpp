// Reading guide: the columns of a product are cut into slices, and each slice is multiplied panel after panel. What the
// threads read at one time is then a slice of the rows of B that one panel meets, which stays in the shared cache.
// Where there is room for it, that slice is copied first. Threads take chunks of rows of about equal numbers of
// nonzeros as they come; every row is the work of one of them.
#include <algorithm>

#include <gnnplan/base/range.hpp>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// Rows gathered from memory come at the more bytes per second the longer they are, up to about 512 bytes; longer ones
// only take more cache.
constexpr std::int64_t slice_columns = 160;
constexpr std::int64_t line_floats = 16;

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

void multiply_panel(const Csr& panel, ConstMatrix b, Matrix c, Store store) {
    const VectorKernels& kernels = best_kernels();
    const std::int64_t work = (panel.rows + panel.nonzeros()) * c.columns;
    const std::int64_t parts = std::min(panel.rows, chunks_per_thread * max_threads());
    parallel_for(parts, work, Schedule::dynamic, [&](std::int64_t i) {
        const std::int64_t first = first_row_of_part(panel, i, parts);
        const std::int64_t last = i + 1 == parts ? panel.rows : first_row_of_part(panel, i + 1, parts);
        if (first < last) kernels.spmm_rows(panel, b, c, store, first, last);
    });
}

template <class T>
Dense<T> columns_of(Dense<T> whole, std::int64_t first, std::int64_t count) {
    return {whole.data + first, whole.rows, count, whole.stride};
}

// The rows of b in `range`, copied to `room` with whole cache lines each, and called what they were in b.
ConstMatrix packed_rows(ConstMatrix b, Range range, float* room) {
    const std::int64_t stride = (b.columns + line_floats - 1) / line_floats * line_floats;
    const std::int64_t chunk = rows_per_chunk(b.columns);
    parallel_chunks(range.size(), chunk, range.size() * b.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            std::copy_n(b.row(range.begin + i), b.columns, room + i * stride);
        }
    });
    return {room - range.begin * stride, b.rows, b.columns, stride};
}

}  // namespace

void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, std::span<float> room) {
    if (c.rows == 0 || c.columns == 0) return;
    const Store once = c.rows * c.columns * 4 >= streamed_bytes ? Store::stream : Store::write;
    const std::int64_t slices = (c.columns + slice_columns - 1) / slice_columns;
    const std::int64_t lines = (c.columns + line_floats - 1) / line_floats;
    const std::int64_t slice = (lines + slices - 1) / slices * line_floats;
    for (std::int64_t first = 0; first < c.columns; first += slice) {
        const std::int64_t count = std::min(slice, c.columns - first);
        for (std::int64_t p = 0; p < a.panels; ++p) {
            ConstMatrix rows = columns_of(b, first, count);
            const Range met = balanced_block({0, a.columns}, p, a.panels);
            const bool fits = met.size() * slice <= static_cast<std::int64_t>(room.size());
            if (fits && !room.empty()) rows = packed_rows(rows, met, room.data());
            multiply_panel(a.panel(p), rows, columns_of(c, first, count), accumulate || p > 0 ? Store::add : once);
        }
    }
}

}  // namespace gnnplan::kernels::cpu
