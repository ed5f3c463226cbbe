// Generalised SpMM: slices of the columns, panel after panel, as products (spmm.cpp).
#include <algorithm>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/row_chunks.hpp"
#include "kernels/cpu/slices.hpp"

namespace gnnplan::kernels::cpu {
namespace {

void reduce_panel(const GspmmBlock<float>& block, Store store) {
    in_chunks(block.a, block.out.columns,
              [&](Range rows) { best_kernels().gspmm_rows(block, store, rows.begin, rows.end); });
}
void reduce_panel(const GspmmBlock<Bf16>& block, Store store) {
    in_chunks(block.a, block.out.columns,
              [&](Range rows) { best_kernels().gspmm_rows_bf16(block, store, rows.begin, rows.end); });
}

// Whether no panel has entries of the row.
bool is_empty(const Csr& a, std::int64_t row) {
    bool empty = true;
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const std::int64_t* start = a.row_start + p * a.panel_stride + row;
        empty = empty && start[0] == start[1];
    }
    return empty;
}

void clear_empty_rows(const Csr& a, Matrix out) {
    const std::int64_t chunk = rows_per_chunk(out.columns);
    parallel_chunks(a.rows, chunk, a.rows, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            if (is_empty(a, i)) std::fill_n(out.row(i), out.columns, 0.0F);
        }
    });
}

}  // namespace

void gspmm(EdgeOp op, ReduceOp reduce, const Csr& a, ConstMatrix x, ConstMatrix edge, Matrix out, PanelRoom room) {
    room.bf16 = room.bf16 && rounds_vertices(op, reduce);
    const bool edge_rows = reads_edges(op) && edge.columns > 1;
    by_slices_and_panels(a, out.rows, out.columns, room, false, [&](const SlicePanel& at) {
        const auto reduce_with = [&](auto from) {
            using Element = std::remove_const_t<std::remove_pointer_t<decltype(from.data)>>;
            const ConstMatrix numbers = edge_rows ? columns_of(edge, at.columns) : edge;
            const Matrix to = columns_of(out, at.columns);
            reduce_panel(GspmmBlock<Element>{op, reduce, a.panel(at.panel), from, numbers, edge_rows, to}, at.store);
        };
        if (room.bf16) {
            reduce_with(packed_rows<Bf16>(columns_of(x, at.columns), at.met, at.stride, room.memory));
        } else {
            reduce_with(reads_vertices(op) ? operand_of(at, x, room.memory) : ConstMatrix{});
        }
    });
    if (reduce != ReduceOp::sum) clear_empty_rows(a, out);
}

}  // namespace gnnplan::kernels::cpu
