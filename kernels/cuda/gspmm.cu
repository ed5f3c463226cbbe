// Generalised SpMM by the walk of spmm_walk.cuh. Kernels are compiled for sums and for maxima, and for each form of the
// numbers of entries; which operator it is they find out when they run, the same one in all threads, as the code would be
// six times as large otherwise.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/packed.cuh"
#include "kernels/cuda/spmm_sweep.cuh"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace gnnplan::kernels::cuda {
namespace {

// With `edge_rows` entries have a number for each column, elsewhere they have the value of the matrix. Reductions are sums,
// or maxima of numbers times `direction`, which are minima where that is -1.
template <bool sums, bool edge_rows, class Element>
struct OperatorSweep {
    static constexpr bool weighted = !edge_rows;
    static constexpr int results = 1;
    EdgeOp op;
    Dense<const Element> x;
    ConstMatrix edge;
    Matrix out;
    float direction;
    bool edge_aligned, aligned;  // rows of `edge` and of `out`
    bool accumulate;

    template <int width, int vectors>
    using Row = Held<width, vectors, 1>;
    struct Nothing {};
    template <int width, int vectors>
    using OfRow = Nothing;

    __host__ __device__ std::int64_t columns() const { return out.columns; }
    template <int width, int vectors>
    __device__ Nothing of_row(const Lane<width, vectors>&, std::int64_t, bool) const {
        return {};
    }
    template <int width, int vectors>
    __device__ Row<width, vectors> start() const {
        Row<width, vectors> row = {};
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) row.x[0][k][v] = sums ? 0.0F : -INFINITY;
        }
        return row;
    }
    template <int width, int vectors>
    struct Fetched {
        Gathered<width, vectors> of_vertices;
        std::conditional_t<edge_rows, Gathered<width, vectors>, Nothing> of_edges;
    };
    template <int width, int vectors>
    __device__ Fetched<width, vectors> fetch(const Lane<width, vectors>& lane, std::int64_t entry,
                                             const std::int32_t (&rows)[entries_at_once], int count) const {
        Fetched<width, vectors> to = {};
        if (op != EdgeOp::copy_rhs) to.of_vertices = gather(lane, x, rows, count, 0.0F);
        if constexpr (edge_rows) {
            GNNPLAN_UNROLL
            for (int s = 0; s < entries_at_once; ++s) {
                GNNPLAN_UNROLL
                for (int k = 0; k < vectors; ++k) {
                    if (s < count && lane.inside(k))
                        to.of_edges.x[s][k] =
                            load<width>(row_of(edge, entry + s), lane.run(entry + s, k, edge_aligned));
                }
            }
        }
        return to;
    }
    __device__ static float joined(float held, float part) {
        if (sums) return __fadd_rn(held, part);
        return part > held ? part : held;
    }
    __device__ float reduced(float held, float found) const {
        return joined(held, sums ? found : __fmul_rn(direction, found));
    }
    // take_one(held, number of the vertex, number of the entry) for all columns.
    template <int width, int vectors, class TakeOne>
    __device__ static void take_each(const Fetched<width, vectors>& from, int s, float weight, Row<width, vectors>& row,
                                     const TakeOne& take_one) {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) {
                float e = weight;
                if constexpr (edge_rows) e = from.of_edges.x[s][k].x[v];
                row.x[0][k][v] = take_one(row.x[0][k][v], from.of_vertices.x[s][k].x[v], e);
            }
        }
    }
    template <int width, int vectors>
    __device__ void take(const Nothing&, const Fetched<width, vectors>& from, int s, float weight,
                         Row<width, vectors>& row) const {
        const auto each = [&](const auto& take_one) { take_each<width, vectors>(from, s, weight, row, take_one); };
        switch (op) {
            case EdgeOp::copy_lhs: return each([this](float held, float u, float) { return reduced(held, u); });
            case EdgeOp::copy_rhs: return each([this](float held, float, float e) { return reduced(held, e); });
            case EdgeOp::add:
                return each([this](float held, float u, float e) { return reduced(held, __fadd_rn(u, e)); });
            case EdgeOp::sub:
                return each([this](float held, float u, float e) { return reduced(held, __fadd_rn(u, -e)); });
            case EdgeOp::mul:
                return each([this](float held, float u, float e) {
                    return sums ? fmaf(u, e, held) : reduced(held, __fmul_rn(u, e));
                });
            case EdgeOp::div: return each([this](float held, float u, float e) { return reduced(held, u / e); });
        }
    }
    template <int width, int vectors>
    __device__ Row<width, vectors> old(const Lane<width, vectors>& lane, std::int64_t row, bool wanted) const {
        Row<width, vectors> held = {};
        if (wanted) load_row(lane, row_of(out, row), aligned, held.x[0]);
        return directed(held);
    }
    template <int width, int vectors>
    __device__ void join(Row<width, vectors>& held, const Row<width, vectors>& part, std::int64_t,
                         bool something) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v)
                held.x[0][k][v] = something ? joined(held.x[0][k][v], part.x[0][k][v]) : part.x[0][k][v];
        }
    }
    template <int width, int vectors>
    __device__ void keep(const Lane<width, vectors>& lane, const Row<width, vectors>& held, std::int64_t row) const {
        store_row(lane, directed(held).x[0], row_of(out, row), aligned);
    }

private:
    template <int width, int vectors>
    __device__ Row<width, vectors> directed(Row<width, vectors> row) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; !sums && v < width; ++v) row.x[0][k][v] *= direction;
        }
        return row;
    }
};

struct Call {
    EdgeOp op;
    float direction;
    Csr a;  // whose values are the numbers of entries that have one
    ConstMatrix x, edge;
    Matrix out;
    bool edge_rows;
};

// The sweep over columns from `first` on, with the rows of the operand that are given.
template <bool sums, bool edge_rows, class Element>
OperatorSweep<sums, edge_rows, Element> sweep_of(const Call& call, Dense<const Element> x, std::int64_t first,
                                                 std::int64_t count, bool accumulate) {
    const ConstMatrix edge = edge_rows ? columns_of(call.edge, first, count) : ConstMatrix{};
    const Matrix out = columns_of(call.out, first, count);
    return {call.op, x, edge, out, call.direction, is_aligned(edge), is_aligned(out), accumulate};
}

// Of how many floats the vectors are that are gathered, 4 or 1: kernels for 2 would be a third of the code.
int width_of(const Call& call) {
    int width = 4;
    if (reads_vertices(call.op)) width = std::min(width, vector_width({call.x}));
    if (call.edge_rows) width = std::min(width, vector_width({call.edge}));
    return width == 4 ? 4 : 1;
}

template <int width, bool sums, bool edge_rows>
void reduce_in_slices(const Call& call) {
    const std::int64_t gathered = reads_vertices(call.op) ? ceil_divide(call.a.columns, call.a.panels) : 0;
    const std::int64_t columns = call.out.columns;
    for_slices(cached_slices(gathered, columns, width), columns, [&](std::int64_t first, std::int64_t count) {
        const ConstMatrix x = reads_vertices(call.op) ? columns_of(call.x, first, count) : ConstMatrix{};
        for (std::int64_t p = 0; p < call.a.panels; ++p) {
            const auto sweep = sweep_of<sums, edge_rows, float>(call, x, first, count, p > 0);
            sweep_panel<width>("gspmm", panel_of(call.a, p), sweep);
        }
    });
}

template <bool sums, bool edge_rows>
void reduce_in_place(const Call& call) {
    width_of(call) == 4 ? reduce_in_slices<4, sums, edge_rows>(call) : reduce_in_slices<1, sums, edge_rows>(call);
}

template <bool edge_rows>
void sum_rounded(const Call& call, const PanelRoom& room) {
    for_packed<Bf16>(call.a, call.x, room, [&](const PackedSlice<Bf16>& at) {
        const auto sweep = sweep_of<true, edge_rows, Bf16>(call, at.rows, at.first, at.rows.columns, at.panel > 0);
        sweep_panel<4>("gspmm", panel_of(call.a, at.panel), sweep);
    });
}

// Each warp has rows. What is there of those without entries is a reduction of nothing.
__global__ void __launch_bounds__(block_threads) clear_empty_rows(Csr a, Matrix out) {
    for (std::int64_t row = thread_number() / warp_lanes; row < a.rows; row += thread_count() / warp_lanes) {
        bool empty = true;
        for (std::int64_t p = 0; p < a.panels; ++p) {
            const std::int64_t first = p * a.panel_stride + row;
            empty = empty && start_of(a, first) == start_of(a, first + 1);
        }
        for (std::int64_t j = lane_of_warp(); empty && j < out.columns; j += warp_lanes) row_of(out, row)[j] = 0;
    }
}

}  // namespace

void gspmm(EdgeOp op, ReduceOp reduce, const Csr& a, ConstMatrix x, ConstMatrix edge, Matrix out, PanelRoom room) {
    if (out.rows == 0 || out.columns == 0) return;
    const bool edge_rows = reads_edges(op) && edge.columns > 1;
    Call call = {op, reduce == ReduceOp::min ? -1.0F : 1.0F, a, x, edge, out, edge_rows};
    call.a.value = reads_edges(op) && !edge_rows ? edge.data : nullptr;
    call.a.row_scale = call.a.column_scale = nullptr;
    const bool sums = reduce == ReduceOp::sum;
    if (room.bf16 && rounds_vertices(op, reduce)) {
        edge_rows ? sum_rounded<true>(call, room) : sum_rounded<false>(call, room);
    } else if (sums) {
        edge_rows ? reduce_in_place<true, true>(call) : reduce_in_place<true, false>(call);
    } else {
        edge_rows ? reduce_in_place<false, true>(call) : reduce_in_place<false, false>(call);
    }
    if (!sums) launch("gspmm", blocks_for(a.rows * warp_lanes), clear_empty_rows, call.a, out);
}

}  // namespace gnnplan::kernels::cuda
