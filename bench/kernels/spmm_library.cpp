// The CPU backend's sparse products as C functions, for bench/kernels/spmm_peers.py and operators_peers.py.
#include "kernels/table.hpp"

using namespace gnnplan::kernels;

extern "C" {

void gnnplan_set_threads(int threads) { set_threads(threads); }

// c (rows x width) = a * b; a has `panels` source panels whose row starts are rows + 1 apart.
void gnnplan_spmm(std::int64_t rows, std::int64_t columns, std::int64_t panels, const std::int64_t* row_start,
                  const std::int32_t* column, const float* value, const float* b, float* c, std::int64_t width) {
    const Csr a{rows, columns, row_start, column, value, nullptr, nullptr, panels, rows + 1};
    cpu_table().spmm(a, {b, columns, width, width}, {c, rows, width, width}, false, {});
}

// out (rows x width) by an operator and a reduction, numbered as in kernels/operators.hpp, of a square matrix in one
// panel; `edge` has edge_columns numbers for each entry.
void gnnplan_gspmm(int op, int reduce, std::int64_t rows, const std::int64_t* row_start, const std::int32_t* column,
                   const float* x, const float* edge, std::int64_t edge_columns, float* out, std::int64_t width) {
    const Csr a{rows, rows, row_start, column};
    cpu_table().gspmm(static_cast<EdgeOp>(op), static_cast<ReduceOp>(reduce), a, {x, rows, width, width},
                      {edge, row_start[rows], edge_columns, edge_columns}, {out, rows, width, width}, {});
}
}
