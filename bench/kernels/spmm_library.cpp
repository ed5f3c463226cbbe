// The CPU backend's sparse product as a C function, for bench/kernels/spmm_peers.py.
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
}
