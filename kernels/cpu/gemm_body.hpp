// The inner loops of dense products, with a tile of the result in registers. Part of vector_body.hpp, whose linkage
// rules hold here too.
//
// The right side is packed: panels of two vectors of columns (the last panel one vector where no more columns are
// left), each inner x panel with its rows behind each other, zeros where the columns end. A tile is `height` rows times
// one panel: height * 2 sums in registers, and per step of the inner dimension two loads of b and `height` broadcasts
// of a, whose rows are read where they are. While a tile is computed, memory that is read next is fetched into the
// cache, a line at a time: neither product waits for memory then.
#pragma once

#include <cstdint>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/spmm_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

template <int width>
using GemmVector = typename VectorOf<width>::type;

template <class Vector>
Vector load_vector(const float* from) {
    Vector x;
    __builtin_memcpy(&x, from, sizeof(Vector));
    return x;
}

// The first `count` lanes, 0 < count < lanes, of a vector in memory; the others are 0.
template <class Vector>
Vector load_part(const float* from, std::int64_t count) {
    Vector x = {};
    for (std::int64_t j = 0; j < count; ++j) x[j] = from[j];
    return x;
}
template <class Vector>
void store_part(float* to, const Vector& x, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) to[j] = x[j];
}
#if defined(__AVX512F__)
template <>
GemmVector<16> load_part(const float* from, std::int64_t count) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from);
}
template <>
void store_part(float* to, const GemmVector<16>& x, std::int64_t count) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), x);
}
#elif defined(__AVX2__)
inline __m256i first_lanes(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
template <>
GemmVector<8> load_part(const float* from, std::int64_t count) {
    return _mm256_maskload_ps(from, first_lanes(count));
}
template <>
void store_part(float* to, const GemmVector<8>& x, std::int64_t count) {
    _mm256_maskstore_ps(to, first_lanes(count), x);
}
#endif

// One tile of c; element (i, p) of op(a) is a[i * stride + p], or a[p * stride + i] if turned.
struct GemmTile {
    const float* a;
    std::int64_t a_stride;
    const float* b;
    std::int64_t b_step;  // from one step of the inner dimension to the next
    std::int64_t inner;
    float* c;
    std::int64_t c_stride;
    std::int64_t columns;
    bool accumulate;
    std::uintptr_t ahead, ahead_step;  // the address to fetch at step p: ahead + p * ahead_step
};

// Row `row` of a tile, whole (as wide as its panel) or a part of it. Inlined, so that the sums stay in registers.
template <int width, bool whole, bool add, int vectors>
[[gnu::always_inline]] inline void store_row(const GemmTile& x, std::int64_t row, GemmVector<width> (&sum)[vectors]) {
    using Vector = GemmVector<width>;
    float* c = x.c + row * x.c_stride;
    for (int v = 0; v < vectors; ++v, c += width) {
        if (whole || v + 1 < vectors) {
            if (add) sum[v] += load_vector<Vector>(c);
            __builtin_memcpy(c, &sum[v], sizeof(Vector));
        } else {
            const std::int64_t left = x.columns - std::int64_t{v} * width;
            if (add) sum[v] += load_part<Vector>(c, left);
            store_part<Vector>(c, sum[v], left);
        }
    }
}

template <int width, int vectors, bool turned, int... row>
void gemm_tile(const GemmTile& x, std::integer_sequence<int, row...>) {
    using Vector = GemmVector<width>;
    constexpr int height = sizeof...(row);
    constexpr int group = height % 3 == 0 ? 3 : 1;  // rows that share a pointer: fewer registers for addresses
    Vector sum[height][vectors] = {};
    const float* a[(height + group - 1) / group] = {};
    for (int g = 0; g * group < height; ++g) a[g] = turned ? x.a : x.a + std::int64_t{g} * group * x.a_stride;
    const float* b = x.b;
    std::uintptr_t ahead = x.ahead;
    for (int i = 0; i < height; ++i) {
        for (int v = 0; v < vectors; ++v) __builtin_prefetch(x.c + i * x.c_stride + std::int64_t{v} * width, 1);
    }
    for (std::int64_t p = 0; p < x.inner; ++p) {
        Vector panel[vectors];
        for (int v = 0; v < vectors; ++v) panel[v] = load_vector<Vector>(b + std::int64_t{v} * width);
        __builtin_prefetch(reinterpret_cast<const void*>(ahead), 0, 2);  // NOLINT(performance-no-int-to-ptr)
        for (int i = 0; i < height; ++i) {
            const float left = turned ? a[0][i] : a[i / group][i % group * x.a_stride + p];
            for (int v = 0; v < vectors; ++v) sum[i][v] += left * panel[v];
        }
        if constexpr (turned) a[0] += x.a_stride;
        b += x.b_step;
        ahead += x.ahead_step;
    }
    const bool whole = x.columns == std::int64_t{vectors} * width;
    if (whole && x.accumulate) {
        (store_row<width, true, true>(x, row, sum[row]), ...);
    } else if (whole) {
        (store_row<width, true, false>(x, row, sum[row]), ...);
    } else if (x.accumulate) {
        (store_row<width, false, true>(x, row, sum[row]), ...);
    } else {
        (store_row<width, false, false>(x, row, sum[row]), ...);
    }
}

std::uintptr_t address(const float* from, std::int64_t offset) {
    return reinterpret_cast<std::uintptr_t>(from) + static_cast<std::uintptr_t>(offset) * sizeof(float);
}

using GemmTileFunction = void (*)(const GemmTile&);

template <int width, int vectors, bool turned, int height>
void gemm_tile_of(const GemmTile& x) {
    gemm_tile<width, vectors, turned>(x, std::make_integer_sequence<int, height>{});
}

// Heights of tiles: `height` while so many rows are left, then two thirds and one third of it, then single rows.
template <int width, int height, bool turned>
void gemm_rows_of(const GemmBlock& x) {
    static_assert(height % 3 == 0);
    constexpr std::int64_t heights[] = {height, std::int64_t{height} / 3 * 2, std::int64_t{height} / 3, 1};
    constexpr GemmTileFunction tiles[][2] = {
        {gemm_tile_of<width, 1, turned, height>, gemm_tile_of<width, 2, turned, height>},
        {gemm_tile_of<width, 1, turned, height / 3 * 2>, gemm_tile_of<width, 2, turned, height / 3 * 2>},
        {gemm_tile_of<width, 1, turned, height / 3>, gemm_tile_of<width, 2, turned, height / 3>},
        {gemm_tile_of<width, 1, turned, 1>, gemm_tile_of<width, 2, turned, 1>}};
    constexpr std::int64_t panel_columns = std::int64_t{2} * width;
    const std::int64_t panels = (x.c.columns + panel_columns - 1) / panel_columns;
    const std::int64_t count = ((x.c.rows + height - 1) / height) * panels;  // of tiles, about
    // Prefetches are spread evenly over the tiles.
    const std::int64_t share = (x.ahead.count + x.then.count) / count;
    GemmTile tile = {};
    tile.a_stride = x.a.stride;
    tile.inner = x.inner;
    tile.c_stride = x.c.stride;
    tile.accumulate = x.accumulate;
    tile.ahead_step = static_cast<std::uintptr_t>((share + x.inner - 1) / x.inner) * sizeof(float);
    const std::int64_t direct_columns = x.b.data != nullptr ? x.c.columns / panel_columns * panel_columns : 0;
    std::int64_t at = 0;
    const auto multiply = [&](std::int64_t i, int shape, std::int64_t j) {
        tile.a = x.a.data + (turned ? i : i * x.a.stride);
        tile.c = x.c.data + i * x.c.stride + j;
        tile.columns = x.c.columns - j < panel_columns ? x.c.columns - j : panel_columns;
        tile.ahead = at < x.ahead.count ? address(x.ahead.from, at) : address(x.then.from, at - x.ahead.count);
        at += share;
        const int vectors = tile.columns > width ? 2 : 1;
        const bool direct = j < direct_columns;
        tile.b = direct ? x.b.data + j : x.packed + x.inner * (j - direct_columns);
        tile.b_step = direct ? x.b.stride : std::int64_t{vectors} * width;
        tiles[shape][vectors - 1](tile);
    };
    const auto shape_at = [&](std::int64_t i) {
        int shape = 0;
        while (x.c.rows - i < heights[shape]) ++shape;
        return shape;
    };
    // The operand that is used again at once stays in the first-level cache: the rows of a, or, if these are columns
    // and lie apart, the panel of b.
    if constexpr (turned) {
        for (std::int64_t j = 0; j < x.c.columns; j += panel_columns) {
            for (std::int64_t i = 0; i < x.c.rows; i += heights[shape_at(i)]) multiply(i, shape_at(i), j);
        }
    } else {
        for (std::int64_t i = 0; i < x.c.rows; i += heights[shape_at(i)]) {
            for (std::int64_t j = 0; j < x.c.columns; j += panel_columns) multiply(i, shape_at(i), j);
        }
    }
}

template <int width, int height>
void gemm_rows(const GemmBlock& x) {
    if (x.transpose_a == Transpose::yes) return gemm_rows_of<width, height, true>(x);
    return gemm_rows_of<width, height, false>(x);
}

// Row p of a panel that begins at column `first`: `count` floats, the rest of the panel zeros.
template <int width>
void pack_row(const float* row, std::int64_t count, float* to, std::int64_t panel) {
    constexpr std::int64_t whole = std::int64_t{2} * width;
    if (count == whole) {
        __builtin_memcpy(to, row, whole * sizeof(float));
        return;
    }
    for (std::int64_t j = 0; j < panel; ++j) to[j] = j < count ? row[j] : 0.0F;
}

template <int width>
void gemm_pack(Transpose transpose_b, ConstMatrix b, float* packed) {
    const bool turned = transpose_b == Transpose::yes;
    const std::int64_t inner = turned ? b.columns : b.rows;
    const std::int64_t columns = turned ? b.rows : b.columns;
    constexpr std::int64_t two = std::int64_t{2} * width;
    const auto panel_at = [&](std::int64_t first) { return columns - first > width ? two : width; };
    if (turned) {
        for (std::int64_t j = 0; j < columns; ++j) {
            const std::int64_t first = j / two * two;
            const std::int64_t panel = panel_at(first);
            float* to = packed + inner * first + (j - first);
            for (std::int64_t p = 0; p < inner; ++p) to[p * panel] = b.data[j * b.stride + p];
            for (std::int64_t t = 1; j + 1 == columns && j - first + t < panel; ++t) {
                for (std::int64_t p = 0; p < inner; ++p) to[p * panel + t] = 0;
            }
        }
    } else {
        // Row by row, as they lie in memory.
        for (std::int64_t p = 0; p < inner; ++p) {
            for (std::int64_t first = 0; first < columns; first += two) {
                const std::int64_t panel = panel_at(first);
                const std::int64_t count = columns - first < panel ? columns - first : panel;
                pack_row<width>(b.data + p * b.stride + first, count, packed + inner * first + p * panel, panel);
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
