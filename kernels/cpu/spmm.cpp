#include <algorithm>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

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

}  // namespace

void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate) {
    if (c.rows == 0 || c.columns == 0) return;
    const VectorKernels& kernels = best_kernels();
    const std::int64_t work = (a.rows + a.nonzeros()) * c.columns;
    const std::int64_t parts = std::min<std::int64_t>(a.rows, std::int64_t{16} * max_threads());
    parallel_for(parts, work, Schedule::dynamic, [&](std::int64_t i) {
        const std::int64_t first = first_row_of_part(a, i, parts);
        const std::int64_t last = i + 1 == parts ? a.rows : first_row_of_part(a, i + 1, parts);
        if (first < last) kernels.spmm_rows(a, b, c, accumulate, first, last);
    });
}

}  // namespace gnnplan::kernels::cpu
