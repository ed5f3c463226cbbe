// The rows of an SpMM. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/operator_row.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

template <int width, int strips, class Element>
void spmm_rows(const Csr& a, Dense<const Element> b, Matrix c, Store store, std::int64_t first, std::int64_t last) {
    const auto walk = [&]<EdgeOp op, class Edges>(Edges edges) {
        OperatorRow<op, true, Edges, Element> row(a, edges, b, c);
        row.row_scale = a.row_scale;
        walk_rows<width, strips>(a, row, store, first, last);
    };
    if (a.value != nullptr) {
        walk.template operator()<EdgeOp::mul>(StoredValues{a.value});
    } else if (a.column_scale != nullptr) {
        walk.template operator()<EdgeOp::mul>(ColumnScales{a.column_scale});
    } else {
        walk.template operator()<EdgeOp::copy_lhs>(NoNumbers{});
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
