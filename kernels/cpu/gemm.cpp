// Dense products for graphs: one side is as long as there are vertices, the others are widths of layers.
//
// X W and G W^T: the small right side is packed once, and the rows of the result are split over the threads.
// X^T G sums over the vertices: these are split over the threads, each sums its own product, and the products are added
// in the threads' order. The bits therefore depend on the thread count in X^T G alone.
#include <algorithm>
#include <memory>
#include <new>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

struct Product {
    Transpose transpose_a, transpose_b;
    ConstMatrix a, b;
    std::int64_t inner;
    bool accumulate;
};

// Uninitialised memory, aligned to cache lines.
class Scratch {
public:
    explicit Scratch(std::int64_t floats) : data_(new (line) float[static_cast<std::size_t>(floats)]) {}
    float* data() const { return data_.get(); }

private:
    static constexpr std::align_val_t line{64};
    struct Delete {
        void operator()(float* data) const { ::operator delete[](data, line); }
    };
    std::unique_ptr<float[], Delete> data_;
};

// Columns of a packed matrix, whatever the width of a vector.
std::int64_t padded(std::int64_t columns) { return (columns + 15) / 16 * 16; }

// op(m) from row `first` on, `count` rows.
ConstMatrix rows_of(Transpose transpose, ConstMatrix m, std::int64_t first, std::int64_t count) {
    if (transpose == Transpose::yes) return {m.data + first, m.rows, count, m.stride};
    return {m.row(first), count, m.columns, m.stride};
}

// op(m) from column `first` on, `count` columns.
ConstMatrix columns_of(Transpose transpose, ConstMatrix m, std::int64_t first, std::int64_t count) {
    const bool turned = transpose == Transpose::yes;
    return rows_of(turned ? Transpose::no : Transpose::yes, m, first, count);
}

Matrix result_rows(Matrix c, std::int64_t first, std::int64_t count) {
    return {c.row(first), count, c.columns, c.stride};
}

// Chunks are multiples of every tile's height: several per thread, or so small that their rows of the result are in the
// second-level cache when they are made.
std::int64_t rows_of_chunk(Matrix c, bool in_cache) {
    constexpr std::int64_t step = 48;
    constexpr std::int64_t cached = 1 << 15;  // floats
    const std::int64_t rows = in_cache ? cached / c.columns : c.rows / (std::int64_t{8} * max_threads());
    return std::max<std::int64_t>(1, rows / step) * step;
}

void by_rows(const Product& x, Matrix c, const RowsMade& then = {}) {
    // Blocks of the inner dimension so large that there is mostly one: each reads and writes all of c.
    constexpr std::int64_t most = 1024;
    const std::int64_t blocks = (x.inner + most - 1) / most;
    const std::int64_t length = (x.inner + blocks - 1) / blocks;
    const VectorKernels& kernels = best_kernels();
    const Scratch packed(x.inner * padded(c.columns));
    for (std::int64_t p = 0; p < x.inner; p += length) {
        kernels.gemm_pack(x.transpose_b, rows_of(x.transpose_b, x.b, p, std::min(length, x.inner - p)),
                          packed.data() + p * padded(c.columns));
    }
    const std::int64_t chunk = rows_of_chunk(c, then != nullptr);
    const std::int64_t chunks = (c.rows + chunk - 1) / chunk;
    parallel_for(chunks, c.rows * c.columns * x.inner, LoopSchedule::dynamic, [&](std::int64_t i) {
        const Matrix out = result_rows(c, i * chunk, std::min(chunk, c.rows - i * chunk));
        const ConstMatrix a = rows_of(x.transpose_a, x.a, i * chunk, out.rows);
        for (std::int64_t p = 0; p < x.inner; p += length) {
            const std::int64_t inner = std::min(length, x.inner - p);
            const ConstMatrix left = columns_of(x.transpose_a, a, p, inner);
            GemmBlock block = {.transpose_a = x.transpose_a,
                               .a = left,
                               .packed = packed.data() + p * padded(c.columns),
                               .inner = inner,
                               .c = out,
                               .accumulate = x.accumulate || p > 0};
            constexpr std::int64_t ahead_rows = 12;
            if (x.transpose_a == Transpose::no && out.rows > ahead_rows) {
                block.ahead = {left.row(ahead_rows), out.rows * left.stride};
            }
            kernels.gemm_rows(block);
        }
        if (then) then(i * chunk, i * chunk + out.rows);
    });
}

// Positions begin .. end - 1 of the inner dimension, in blocks whose rows of both operands stay in the second-level
// cache together with those of the next. A block of b is used too seldom to pay for packing where it need not be.
void sum_range(const Product& x, std::int64_t begin, std::int64_t end, std::int64_t block_rows, float* packed, Matrix c,
               bool accumulate) {
    const VectorKernels& kernels = best_kernels();
    for (std::int64_t p = begin; p < end; p += block_rows) {
        const std::int64_t inner = std::min(block_rows, end - p);
        const ConstMatrix b = rows_of(x.transpose_b, x.b, p, inner);
        const bool direct = x.transpose_b == Transpose::no;
        const std::int64_t rest = direct ? c.columns % kernels.gemm_panel : c.columns;
        if (rest > 0) {
            kernels.gemm_pack(x.transpose_b, columns_of(x.transpose_b, b, c.columns - rest, rest), packed);
        }
        GemmBlock block = {.transpose_a = x.transpose_a,
                           .a = columns_of(x.transpose_a, x.a, p, inner),
                           .b = direct ? b : ConstMatrix{},
                           .packed = packed,
                           .inner = inner,
                           .c = c,
                           .accumulate = accumulate || p > begin};
        const std::int64_t next = std::min(block_rows, end - p - inner);
        if (next > 0) {
            if (direct) block.ahead = {x.b.row(p + inner), next * x.b.stride};
            block.then = {x.a.row(p + inner), next * x.a.stride};
        }
        kernels.gemm_rows(block);
    }
}

void by_inner(const Product& x, Matrix c) {
    constexpr std::int64_t cached = 1 << 16;  // floats of both operands
    const std::int64_t block_rows = std::clamp<std::int64_t>(cached / (c.rows + c.columns), 64, 512);
    const std::int64_t work = c.rows * c.columns * x.inner;
    const std::int64_t most = work < serial_work ? 1 : max_threads();
    const std::int64_t parts = std::clamp<std::int64_t>(x.inner / block_rows, 1, most);
    const std::int64_t packed_size = block_rows * padded(c.columns);
    const std::int64_t sums_size = c.rows * padded(c.columns);
    const Scratch scratch(parts * (packed_size + sums_size));
    const auto sums = [&](std::int64_t part) {
        float* data = scratch.data() + part * (packed_size + sums_size) + packed_size;
        return part == 0 ? c : Matrix{data, c.rows, c.columns, padded(c.columns)};
    };
    parallel_for(parts, work, LoopSchedule::fixed, [&](std::int64_t part) {
        sum_range(x, x.inner * part / parts, x.inner * (part + 1) / parts, block_rows,
                  scratch.data() + part * (packed_size + sums_size), sums(part), x.accumulate && part == 0);
    });
    parallel_chunks(c.rows, rows_per_chunk(c.columns), c.rows * c.columns * (parts - 1),
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t part = 1; part < parts; ++part) {
                            for (std::int64_t i = first; i < last; ++i) {
                                const float* from = sums(part).row(i);
                                float* to = c.row(i);
                                for (std::int64_t j = 0; j < c.columns; ++j) to[j] += from[j];
                            }
                        }
                    });
}

}  // namespace

std::int64_t gemm_lanes() { return best_kernels().gemm_panel / 2; }

void gemm(Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, bool accumulate) {
    if (c.rows == 0 || c.columns == 0) return;
    const Product product = {transpose_a, transpose_b, a, b, transpose_a == Transpose::yes ? a.rows : a.columns,
                             accumulate};
    if (product.inner == 0) {
        for (std::int64_t i = 0; !accumulate && i < c.rows; ++i) std::fill_n(c.row(i), c.columns, 0.0F);
    } else if (transpose_a == Transpose::yes && product.inner > c.rows) {
        by_inner(product, c);
    } else {
        by_rows(product, c);
    }
}

void gemm_then(Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, const RowsMade& then) {
    if (c.rows == 0 || c.columns == 0 || a.columns == 0) {
        gemm(Transpose::no, transpose_b, a, b, c, false);
        if (c.rows > 0) then(0, c.rows);
        return;
    }
    by_rows({Transpose::no, transpose_b, a, b, a.columns, false}, c, then);
}

}  // namespace gnnplan::kernels::cpu
