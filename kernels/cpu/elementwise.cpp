#include <array>
#include <cmath>
#include <cstring>

#include <gnnplan/base/range.hpp>

#include "kernels/cpu/bits.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

template <class T>
Dense<T> part_of(Dense<T> whole, Range rows, Range columns) {
    return {whole.row(rows.begin) + columns.begin, rows.size(), columns.size(), whole.stride};
}
template <class T>
Dense<T> rows_of(Dense<T> whole, std::int64_t first, std::int64_t last) {
    return part_of(whole, {first, last}, {0, whole.columns});
}

// Begins to read a matrix into the cache, or to own it there for writing.
template <int writes>
[[gnu::always_inline]] inline void fetch(ConstMatrix matrix) {
    constexpr std::int64_t line = 16;  // floats
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const float* row = matrix.row(i);
        for (std::int64_t j = 0; j < matrix.columns; j += line) __builtin_prefetch(row + j, writes);
    }
}

// Dropout of the rows first .. last - 1 of a block, in pieces whose draws stay in the first-level cache: several narrow
// rows, or a part of one wide row, at a time. Groups of eight columns are aligned to the whole matrix, not to the
// block.
class RowDropout {
public:
    RowDropout(const VectorKernels& kernels, const DropoutKey& key, std::int64_t columns)
        : kernels_(kernels),
          key_(key),
          stream_(stream_of(key)),
          threshold_(dropout_threshold(key.probability)),
          scale_(1.0F / (1.0F - key.probability)),
          columns_(columns) {}

    void rows(ConstMatrix in, Matrix out, std::int64_t first, std::int64_t last) const {
        const std::int64_t end = key_.first_column + columns_;
        for (std::int64_t column = key_.first_column; column < end;) {
            const std::int64_t group = column / dropout_group;
            const std::int64_t next = std::min(end, group * dropout_group + draw_columns);
            const std::int64_t groups = (next - 1) / dropout_group + 1 - group;
            const std::int64_t batch = draw_columns / dropout_group / groups;
            for (std::int64_t row = first; row < last; row += batch) {
                piece(in, out, row, std::min(batch, last - row), column, next, group, groups);
            }
            column = next;
        }
    }

private:
    static StreamKey stream_of(const DropoutKey& key) {
        if (key.probability == 0) return {};
        return stream_key(key.seed, StreamUse::dropout, key.pass->epoch, key.layer);
    }
    // Rows row .. row + count - 1 and the global columns column .. next - 1, which lie in `groups` groups from `group`.
    void piece(ConstMatrix in, Matrix out, std::int64_t row, std::int64_t count, std::int64_t column, std::int64_t next,
               std::int64_t group, std::int64_t groups) const {
        const Range rows{row, row + count};
        const Range columns{column - key_.first_column, next - key_.first_column};
        const ConstMatrix from = part_of(in, rows, columns);
        const Matrix to = part_of(out, rows, columns);
        // Memory comes while the draws are made.
        fetch<0>(from);
        if (to.data != from.data) fetch<1>(to);
        std::array<std::uint16_t, draw_columns> draws;
        const std::int32_t* ids = key_.row_ids != nullptr ? key_.row_ids + row : nullptr;
        kernels_.dropout_draws(stream_, {key_.first_row + row, ids}, count, group, groups, draws.data());
        kernels_.drop_rows(from, to, draws.data() + column % dropout_group, groups * dropout_group, threshold_, scale_);
    }

    const VectorKernels& kernels_;
    const DropoutKey& key_;
    StreamKey stream_;
    std::uint32_t threshold_;
    float scale_;
    std::int64_t columns_;
};

// Whether consecutive rows follow each other without gaps.
bool is_flat(const auto& matrix) { return matrix.stride == matrix.columns || matrix.rows <= 1; }

}  // namespace

void activate(Matrix z, const float* bias, Activation activation, const DropoutKey& key, std::uint8_t* bits) {
    if (z.rows == 0 || z.columns == 0) return;
    const VectorKernels& kernels = best_kernels();
    const RowDropout drop(kernels, key, z.columns);
    // All that is done to a chunk is done while it is in cache.
    parallel_chunks(z.rows, rows_per_chunk(z.columns), z.rows * z.columns, [&](std::int64_t first, std::int64_t last) {
        kernels.activate_rows(rows_of(z, first, last), bias, activation);
        if (key.probability > 0) drop.rows(z, z, first, last);
        if (bits != nullptr) pack_rows(kernels, z, bits, first, last);
    });
}

void activation_gradient(Matrix g, ConstMatrix h, Activation activation, const DropoutKey& key) {
    if (g.rows == 0 || g.columns == 0) return;
    const VectorKernels& kernels = best_kernels();
    const RowDropout drop(kernels, key, g.columns);
    const float kept = 1.0F / (1.0F - key.probability);
    const bool curved = activation != Activation::none;
    parallel_chunks(g.rows, rows_per_chunk(g.columns), g.rows * g.columns, [&](std::int64_t first, std::int64_t last) {
        if (curved) kernels.activation_slopes(rows_of(g, first, last), rows_of(h, first, last), activation, kept);
        if (key.probability > 0) drop.rows(g, g, first, last);
    });
}

void dropout(ConstMatrix in, Matrix out, const DropoutKey& key) {
    if (key.probability == 0) return copy(in, out);
    const RowDropout drop(best_kernels(), key, out.columns);
    parallel_chunks(out.rows, rows_per_chunk(out.columns), out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) { drop.rows(in, out, first, last); });
}

void divide(Matrix g, ConstMatrix by) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(g.rows, rows_per_chunk(g.columns), g.rows * g.columns, [&](std::int64_t first, std::int64_t last) {
        kernels.divide_rows(rows_of(g, first, last), rows_of(by, first, last));
    });
}

void copy(ConstMatrix in, Matrix out) {
    if (out.rows == 0 || out.columns == 0) return;
    const bool flat = is_flat(in) && is_flat(out);
    const auto bytes = [&](std::int64_t rows) { return static_cast<std::size_t>(rows * out.columns) * sizeof(float); };
    parallel_chunks(out.rows, rows_per_chunk(out.columns), out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        if (flat) {
                            std::memcpy(out.row(first), in.row(first), bytes(last - first));
                            return;
                        }
                        for (std::int64_t i = first; i < last; ++i) std::memcpy(out.row(i), in.row(i), bytes(1));
                    });
}

void gather_rows(ConstMatrix in, const std::int32_t* index, Matrix out) {
    const auto bytes = static_cast<std::size_t>(out.columns) * sizeof(float);
    if (bytes == 0) return;
    parallel_chunks(out.rows, rows_per_chunk(out.columns), out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        if (out.columns == 1) {  // values of nonzeros: a call for each would take most of the time
                            for (std::int64_t i = first; i < last; ++i) *out.row(i) = *in.row(index[i]);
                            return;
                        }
                        for (std::int64_t i = first; i < last; ++i) std::memcpy(out.row(i), in.row(index[i]), bytes);
                    });
}

void add_rows(ConstMatrix in, const std::int32_t* index, std::int64_t first, Matrix out) {
    parallel_chunks(in.rows, rows_per_chunk(in.columns), in.rows * in.columns,
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                            const float* from = in.row(i);
                            float* to = out.row(index[i] - first);
                            for (std::int64_t j = 0; j < in.columns; ++j) to[j] += from[j];
                        }
                    });
}

void scale_rows(const std::int32_t* index, const float* factor, std::int64_t count, Matrix rows) {
    parallel_chunks(count, rows_per_chunk(rows.columns), count * rows.columns,
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                            float* const row = rows.row(index != nullptr ? index[i] : i);
                            if (factor == nullptr) {
                                std::fill_n(row, rows.columns, 0.0F);
                                continue;
                            }
                            for (std::int64_t j = 0; j < rows.columns; ++j) row[j] *= factor[i];
                        }
                    });
}

void zero(std::span<std::byte> memory) {
    if (!memory.empty()) std::memset(memory.data(), 0, memory.size());
}

void update(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t count,
            const UpdateSettings& settings) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(count, rows_per_chunk(1), count, [&](std::int64_t first, std::int64_t last) {
        const auto from_first = [&](float* m) { return m == nullptr ? m : m + first; };
        kernels.update(rule, w + first, gradient + first, from_first(m1), from_first(m2), last - first, settings);
    });
}

}  // namespace gnnplan::kernels::cpu
