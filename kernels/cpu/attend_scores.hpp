// The scores of a batch of edges of one row, head by head. Part of vector_body.hpp, whose linkage rules hold here too.
//
// They lie edge after edge, each with a lane for every head. Where a vector is wider than that, it has several edges:
// heads are followed by lanes without one until they number a power of two, or whole vectors. Lane j is then of the
// same head in every vector of an edge, and numbers of the row's own are kept once for each lane. Lanes without a head
// hold finite numbers that nobody reads.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu/draws_body.hpp"
#include "kernels/cpu/head_body.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

constexpr std::int64_t most_scores = 512;  // of a batch
constexpr std::int64_t most_lanes = 16;    // of a vector: so many may be read behind the end

struct Scores {
    alignas(64) float of[most_scores + most_lanes] = {};
};

// A number for each head of a row, in every lane of that head.
struct HeadLanes {
    alignas(64) float of[attend_heads + most_lanes] = {};
};

// Moves scores through memory in vectors as they will be read: a read that spans several writes would wait for them.
template <int width, int heads>
void move_heads(const float* from, float* to) {
    constexpr int lanes = heads < width ? heads : width;
    for (int k = 0; k < heads; k += lanes) {
        const auto numbers = load<lanes>(from + k);
        __builtin_memcpy(to + k, &numbers, sizeof numbers);
    }
}

// A vector of the same heads again and again.
template <int width, int heads>
void repeat_heads(const float* from, float* to) {
    GemmVector<width> all;
    for (int t = 0; t < width; ++t) all[t] = from[t % heads];
    __builtin_memcpy(to, &all, sizeof all);
}

template <int width>
struct EdgeLayout {
    std::int64_t heads;
    std::int64_t period;  // lanes of an edge
    std::int64_t parts;   // vectors that have different heads

    explicit EdgeLayout(std::int64_t head_count) : heads(head_count), period(1) {
        while (period < heads && period < width) period *= 2;
        if (period < heads) period = (heads + width - 1) / width * width;
        parts = period > width ? period / width : 1;
    }
    std::int64_t batch() const { return most_scores / period; }

    void copy(const float* from, float* to) const {
        switch (heads) {
            case 1: *to = *from; return;
            case 2: return move_heads<width, 2>(from, to);
            case 4: return move_heads<width, 4>(from, to);
            case 8: return move_heads<width, 8>(from, to);
            default: break;
        }
        for (std::int64_t k = 0; k < heads; ++k) to[k] = from[k];
    }
    void spread(const float* from, HeadLanes& to) const {
        switch (heads) {
            case 1: return fill(*from, to);
            case 2: return repeat_heads<width, 2>(from, to.of);
            case 4: return repeat_heads<width, 4>(from, to.of);
            default: break;
        }
        copy(from, to.of);
        for (std::int64_t j = period; j < width; ++j) to.of[j] = to.of[j - period];
    }
    void fill(float value, HeadLanes& to) const {
        const GemmVector<width> all = value - GemmVector<width>{};
        for_parts([&](std::int64_t part) { __builtin_memcpy(to.of + part, &all, sizeof all); });
    }

    // body(first lane of HeadLanes) for each vector of them.
    template <class Body>
    void for_parts(const Body& body) const {
        for (std::int64_t p = 0; p < parts; ++p) body(p * width);
    }

    // body(j, whole, lanes) for each vector j of the scores of `count` edges whose heads begin with lane `part`;
    // `lanes` says which lanes are of an edge where not all are.
    template <class Body>
    void for_scores(std::int64_t part, std::int64_t count, const Body& body) const {
        using Integers = typename IntegerVectorOf<width>::type;
        const std::int64_t n = count * period;
        const std::int64_t step = parts * width;
        std::int64_t j = part;
        for (; j + width <= n; j += step) body(j, std::true_type{}, Integers{});
        if (j >= n) return;
        Integers lane;
        for (int t = 0; t < width; ++t) lane[t] = t;
        body(j, std::false_type{}, Integers(lane < static_cast<std::int32_t>(n - j)));
    }
};

template <int width, int heads>
void gather_heads(ConstMatrix from, const std::int32_t* column, std::int64_t count, float* to) {
    for (std::int64_t e = 0; e < count; ++e)
        move_heads<width, heads>(from.data + column[e] * from.stride, to + e * heads);
}
template <int width>
void gather_one_head(ConstMatrix from, const std::int32_t* column, std::int64_t count, float* to) {
    for (std::int64_t e = 0; e < count; e += width) {
        GemmVector<width> numbers;
        for (int t = 0; t < width; ++t) {
            const std::int64_t edge = e + t < count ? e + t : count - 1;
            numbers[t] = from.data[column[edge] * from.stride];
        }
        __builtin_memcpy(to + e, &numbers, sizeof numbers);
    }
}

// The numbers of each edge's other end.
template <int width>
void gather_numbers(const EdgeLayout<width>& layout, ConstMatrix from, const std::int32_t* column, std::int64_t count,
                    Scores& to) {
    switch (layout.heads) {
        case 1: return gather_one_head<width>(from, column, count, to.of);
        case 2: return gather_heads<width, 2>(from, column, count, to.of);
        case 4: return gather_heads<width, 4>(from, column, count, to.of);
        case 8: return gather_heads<width, 8>(from, column, count, to.of);
        default: break;
    }
    for (std::int64_t e = 0; e < count; ++e) {
        const float* numbers = from.data + column[e] * from.stride;
        for (std::int64_t k = 0; k < layout.heads; ++k) to.of[e * layout.period + k] = numbers[k];
    }
}

// Rows of a matrix with a row for each entry, from row `first` on, from or to where scores lie.
template <int width>
void load_scores(const EdgeLayout<width>& layout, ConstMatrix from, std::int64_t first, std::int64_t count,
                 Scores& to) {
    if (layout.period == from.stride) {
        std::memcpy(to.of, from.row(first), static_cast<std::size_t>(count * from.stride) * sizeof(float));
        return;
    }
    for (std::int64_t e = 0; e < count; ++e) layout.copy(from.row(first + e), to.of + e * layout.period);
}
template <int width>
void store_scores(const EdgeLayout<width>& layout, const Scores& from, std::int64_t first, std::int64_t count,
                  Matrix to) {
    if (layout.period == to.stride) {
        std::memcpy(to.row(first), from.of, static_cast<std::size_t>(count * to.stride) * sizeof(float));
        return;
    }
    for (std::int64_t e = 0; e < count; ++e) layout.copy(from.of + e * layout.period, to.row(first + e));
}

// stored_score() of each lane; `kept` is what dropout multiplies its weight with.
template <int width>
GemmVector<width> stored_scores(const GemmVector<width>& x, const GemmVector<width>& kept) {
    using Integers = typename IntegerVectorOf<width>::type;
    Integers bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const Integers positive = x > 0.0F;
    const Integers dropped = kept == 0.0F;
    constexpr auto sign = static_cast<std::int32_t>(0x80000000U);
    bits = (bits & ~1) | (~positive & sign) | (dropped & 1);
    GemmVector<width> stored;
    __builtin_memcpy(&stored, &bits, sizeof stored);
    return stored;
}

// The factors of dropout for weights that have these scores.
template <int width>
GemmVector<width> kept_of_stored(const GemmVector<width>& stored, float scale) {
    using Integers = typename IntegerVectorOf<width>::type;
    Integers bits;
    __builtin_memcpy(&bits, &stored, sizeof bits);
    const GemmVector<width> zero = {};
    return (bits & 1) != 0 ? zero : scale - zero;
}

// Natural logarithms of normal numbers, to three units in the last place (Cephes' coefficients). NaN stays NaN.
template <int width>
GemmVector<width> logarithm(const GemmVector<width>& x) {
    using Vector = GemmVector<width>;
    using Integers = typename IntegerVectorOf<width>::type;
    Integers bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const Integers power = (bits - 0x3f3504f3) >> 23;  // x = m 2^power with m from sqrt(1 / 2) to sqrt(2)
    bits -= power << 23;
    Vector m;
    __builtin_memcpy(&m, &bits, sizeof m);
    m -= 1.0F;
    const Vector e = __builtin_convertvector(power, Vector);
    Vector p = m * 7.0376836292e-2F - 1.1514610310e-1F;
    p = p * m + 1.1676998740e-1F;
    p = p * m - 1.2420140846e-1F;
    p = p * m + 1.4249322787e-1F;
    p = p * m - 1.6668057665e-1F;
    p = p * m + 2.0000714765e-1F;
    p = p * m - 2.4999993993e-1F;
    p = p * m + 3.3333331174e-1F;
    const Vector square = m * m;
    const Vector rest = p * m * square - e * 2.12194440e-4F - square * 0.5F;
    return x == x ? m + rest + e * 0.693359375F : x;
}

// Says what is read of an edge's other end while its row is weighed, so that it can be fetched ahead.
template <int count>
struct EdgeOperands {
    const char* from[count] = {};
    std::int64_t stride[count] = {};

    // In place of what is not there, the first is fetched once more.
    template <class T>
    void set(int i, const T* data, std::int64_t elements) {
        const bool there = data != nullptr;
        from[i] = there ? reinterpret_cast<const char*>(data) : from[0];
        stride[i] = there ? elements * std::int64_t{sizeof(T)} : stride[0];
    }
    void fetch(std::int64_t column) const {
        for (int i = 0; i < count; ++i) __builtin_prefetch(from[i] + column * stride[i]);
    }
};

// The factors of dropout for these draws; no branch depends on the draws, as no processor can predict them.
inline void kept_of(const WeightDropout& dropout, const std::uint16_t* draws, std::int64_t n, float* kept) {
    std::uint32_t scale = 0;
    __builtin_memcpy(&scale, &dropout.scale, sizeof scale);
    const std::uint32_t threshold = dropout.threshold;
    for (std::int64_t j = 0; j < n; ++j) {
        const std::uint32_t bits = draws[j] >= threshold ? ~0U : 0U;
        const std::uint32_t factor = scale & bits;
        __builtin_memcpy(kept + j, &factor, sizeof factor);
    }
}

// The factors of dropout for the weights of a batch. The vertices of edge e are source(e) and target(e).
template <int width, class Source, class Target>
void weights_kept(const EdgeLayout<width>& layout, const WeightDropout& dropout, std::int64_t count,
                  const Source& source, const Target& target, Counters& counters, Scores& kept) {
    const std::int64_t first = dropout.first_head / dropout_group;
    const std::int64_t lane = dropout.first_head % dropout_group;
    const std::int64_t groups = (lane + layout.heads + dropout_group - 1) / dropout_group;
    const std::int64_t at_once = most_counters / groups;
    std::uint16_t draws[draw_columns];
    for (std::int64_t done = 0; done < count; done += at_once) {
        const std::int64_t edges = count - done < at_once ? count - done : at_once;
        for (std::int64_t e = 0, c = 0; e < edges; ++e) {
            const std::int64_t group = source(done + e) * dropout.groups + first;
            const auto row = static_cast<std::uint64_t>(target(done + e));
            for (std::int64_t g = 0; g < groups; ++g, ++c) {
                counters.column[c] = static_cast<std::uint64_t>(group + g);
                counters.row[c] = row;
            }
        }
        draws_of<width / 2>(dropout.key, counters, edges * groups, draws);
        float* to = kept.of + done * layout.period;
        if (lane == 0 && layout.period == dropout_group * groups) {
            kept_of(dropout, draws, edges * layout.period, to);
            continue;
        }
        for (std::int64_t e = 0; e < edges; ++e)
            kept_of(dropout, draws + e * groups * dropout_group + lane, layout.heads, to + e * layout.period);
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
