// Generalised SpMM by plain loops, for any element type; see kernels/operators.hpp.
#pragma once

#include "kernels/operators.hpp"
#include "kernels/reference/reference.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace gnnplan::kernels::reference {

template <class T>
T combined(EdgeOp op, T x, T e) {
    switch (op) {
        case EdgeOp::copy_lhs: return x;
        case EdgeOp::copy_rhs: return e;
        case EdgeOp::add: return x + e;
        case EdgeOp::sub: return x - e;
        case EdgeOp::mul: return x * e;
        case EdgeOp::div: return x / e;
    }
    return x;
}

template <class T>
T reduction_of_nothing(ReduceOp op) {
    if (op == ReduceOp::sum) return T{0};
    return op == ReduceOp::max ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
}

template <class T>
T reduced(ReduceOp op, T so_far, T x) {
    if (op == ReduceOp::sum) return so_far + x;
    return (op == ReduceOp::max ? x > so_far : x < so_far) ? x : so_far;
}

template <class T>
void gspmm(EdgeOp op, ReduceOp reduce, const BasicCsr<T>& a, Input<T> x, Input<T> edge,
           Dense<std::type_identity_t<T>> out) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) {
            T result = reduction_of_nothing<T>(reduce);
            bool empty = true;
            for (std::int64_t p = 0; p < a.panels; ++p) {
                const std::int64_t* row_start = a.row_start + p * a.panel_stride;
                for (std::int64_t k = row_start[i]; k < row_start[i + 1]; ++k) {
                    const T of_vertex = reads_vertices(op) ? x.row(a.column[k])[j] : T{0};
                    const T of_edge = reads_edges(op) ? edge.row(k)[edge.columns == 1 ? 0 : j] : T{0};
                    result = reduced(reduce, result, combined(op, of_vertex, of_edge));
                    empty = false;
                }
            }
            out.row(i)[j] = empty ? T{0} : result;
        }
    }
}

}  // namespace gnnplan::kernels::reference
