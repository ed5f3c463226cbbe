// Reading guide: the columns of a product are cut into slices, and each slice is multiplied panel after panel. At one
// time threads then read a slice of the rows of B that one panel meets, which stays in the shared cache. Where there is
// room for it, that slice is copied first. Threads take chunks of rows of about equal numbers of nonzeros as they come;
// every row is the work of one of them.
#include <gnnplan/base/range.hpp>

#include "kernels/bf16.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/row_chunks.hpp"
#include "kernels/cpu/slices.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// One panel by the kernel for the operand's elements.
void multiply_panel(const Csr& a, ConstMatrix b, Matrix c, Store store) {
    in_chunks(a, c.columns, [&](Range rows) { best_kernels().spmm_rows(a, b, c, store, rows.begin, rows.end); });
}
void multiply_panel(const Csr& a, Dense<const Bf16> b, Matrix c, Store store) {
    in_chunks(a, c.columns, [&](Range rows) { best_kernels().spmm_rows_bf16(a, b, c, store, rows.begin, rows.end); });
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
