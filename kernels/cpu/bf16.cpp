// Numbers on their way to and from messages in bfloat16.
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

#include <algorithm>

namespace gnnplan::kernels::cpu {
namespace {

// row(from, to, n) of `rows` rows of n elements; where no matrix has gaps, many rows are one.
template <class From, class To, class Row>
void by_rows(Dense<const From> in, Dense<To> out, const Row& row) {
    const std::int64_t rows = out.rows, columns = out.columns;
    const bool flat = in.stride == columns && out.stride == columns;
    parallel_chunks(rows, rows_per_chunk(columns), rows * columns, [&](std::int64_t first, std::int64_t last) {
        if (flat) return row(in.row(first), out.row(first), (last - first) * columns);
        for (std::int64_t i = first; i < last; ++i) row(in.row(i), out.row(i), columns);
    });
}

// row(from, to, n) of the rows that the index names.
template <class From, class To, class Row>
void by_index(Dense<const From> in, const std::int32_t* index, Dense<To> out, const Row& row) {
    parallel_chunks(out.rows, rows_per_chunk(out.columns), out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i) row(in.row(index[i]), out.row(i), out.columns);
                    });
}

}  // namespace

void narrow(ConstMatrix in, Dense<Bf16> out) { by_rows(in, out, best_kernels().to_bf16); }

void widen(Dense<const Bf16> in, Matrix out) { by_rows(in, out, best_kernels().from_bf16); }

void add_widened(Dense<const Bf16> in, Matrix out) { by_rows(in, out, best_kernels().add_bf16); }

void gather_rows_narrow(ConstMatrix in, const std::int32_t* index, Dense<Bf16> out) {
    by_index(in, index, out, best_kernels().to_bf16);
}

void gather_rows_bf16(Dense<const Bf16> in, const std::int32_t* index, Dense<Bf16> out) {
    by_index(in, index, out, [](const Bf16* from, Bf16* to, std::int64_t n) { std::copy_n(from, n, to); });
}

void add_rows_widened(Dense<const Bf16> in, const std::int32_t* index, std::int64_t first, Matrix out) {
    const auto row = best_kernels().add_bf16;
    parallel_chunks(in.rows, rows_per_chunk(in.columns), in.rows * in.columns,
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i)
                            row(in.row(i), out.row(index[i] - first), in.columns);
                    });
}

}  // namespace gnnplan::kernels::cpu
