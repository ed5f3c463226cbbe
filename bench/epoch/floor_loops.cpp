#include "bench/epoch/floor_loops.hpp"

#include <xmmintrin.h>

#include <bit>
#include <cstring>

namespace gnnplan::bench {
namespace {

template <int width>
struct FloatsOf {
    typedef float type __attribute__((vector_size(width * sizeof(float)), aligned(alignof(float))));
};

// Sums of lanes, four of them and independent, so that loads and not the latency of an addition are what limits.
template <int width>
struct Sums {
    using Vector = typename FloatsOf<width>::type;
    Vector parts[4] = {};
    float rest = 0;

    // Reads each of so many floats. The last ones of a number that is no multiple of `width` are read with some before
    // them, which count twice.
    [[gnu::always_inline]] void read(const float* data, std::int64_t floats) {
        const auto at = [&](std::int64_t i) -> const Vector& { return *reinterpret_cast<const Vector*>(data + i); };
        std::int64_t i = 0;
        for (; i + 4 * width <= floats; i += 4 * width) {
            for (int part = 0; part < 4; ++part) parts[part] += at(i + part * width);
        }
        for (int part = 0; i + width <= floats; i += width) parts[part++] += at(i);
        if (i == floats) return;
        if (floats >= width) {
            parts[3] += at(floats - width);
        } else {
            for (; i < floats; ++i) rest += data[i];
        }
    }
    [[gnu::always_inline]] float total() const {
        const Vector all = parts[0] + parts[1] + parts[2] + parts[3];
        float total = rest;
        for (int lane = 0; lane < width; ++lane) total += all[lane];
        return total;
    }
};

template <int width>
[[gnu::always_inline]] inline float read_by(const float* data, std::int64_t floats) {
    Sums<width> sums;
    sums.read(data, floats);
    return sums.total();
}

// A bijection of the numbers below a power of two, 2^bits, that leaves no pattern for a prefetcher.
struct Shuffle {
    std::uint64_t mask;
    int half;
    explicit Shuffle(std::int64_t rows)
        : mask(static_cast<std::uint64_t>(rows) - 1), half((static_cast<int>(std::bit_width(mask)) + 1) / 2) {}
    std::int64_t at(std::int64_t i) const {
        std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U & mask;
        x ^= x >> half;
        x = x * 0xD1342543DE82EF95U & mask;
        return static_cast<std::int64_t>(x ^ x >> half);
    }
};

template <int width>
[[gnu::always_inline]] inline float read_rows_by(const RowTable& table, std::int64_t first, std::int64_t count,
                                                 int ahead) {
    constexpr std::int64_t line = 16;  // floats
    const Shuffle shuffle(table.rows);
    Sums<width> sums;
    for (std::int64_t i = first; i < first + count; ++i) {
        if (ahead > 0) {
            const float* next = table.data + shuffle.at(i + ahead) * table.width;
            for (std::int64_t j = 0; j < table.width; j += line) __builtin_prefetch(next + j);
        }
        sums.read(table.data + shuffle.at(i) * table.width, table.width);
    }
    return sums.total();
}

[[gnu::target("avx2")]] float read_avx2(const float* data, std::int64_t floats) { return read_by<8>(data, floats); }
[[gnu::target("avx512f")]] float read_avx512(const float* data, std::int64_t floats) {
    return read_by<16>(data, floats);
}
[[gnu::target("avx2")]] float rows_avx2(const RowTable& table, std::int64_t first, std::int64_t count, int ahead) {
    return read_rows_by<8>(table, first, count, ahead);
}
[[gnu::target("avx512f")]] float rows_avx512(const RowTable& table, std::int64_t first, std::int64_t count, int ahead) {
    return read_rows_by<16>(table, first, count, ahead);
}

bool wide() { return __builtin_cpu_supports("avx512f") != 0; }

}  // namespace

float read(const float* data, std::int64_t floats) {
    return wide() ? read_avx512(data, floats) : read_avx2(data, floats);
}

float read_rows(const RowTable& table, std::int64_t first, std::int64_t count, int ahead) {
    return wide() ? rows_avx512(table, first, count, ahead) : rows_avx2(table, first, count, ahead);
}

void fill_streamed(float* data, std::int64_t floats) {
    const __m128 value = _mm_set1_ps(1.0F);
    for (std::int64_t i = 0; i < floats; i += 4) _mm_stream_ps(data + i, value);
    _mm_sfence();
}

void fill(float* data, std::int64_t floats) {
    std::memset(data, 1, static_cast<std::size_t>(floats) * sizeof(float));
    asm volatile("" : : "r"(data) : "memory");
}

void copy_streamed(const float* from, float* to, std::int64_t floats) {
    for (std::int64_t i = 0; i < floats; i += 4) _mm_stream_ps(to + i, _mm_load_ps(from + i));
    _mm_sfence();
}

void copy_plain(const float* from, float* to, std::int64_t floats) {
    std::memcpy(to, from, static_cast<std::size_t>(floats) * sizeof(float));
    asm volatile("" : : "r"(to) : "memory");
}

}  // namespace gnnplan::bench
