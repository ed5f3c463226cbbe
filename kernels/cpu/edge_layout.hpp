// How the scores of a batch of edges of one row lie, head by head. Part of vector_body.hpp, whose linkage rules hold
// here too.
//
// They lie edge after edge, each with a lane for every head. Where a vector is wider than that, it has several edges:
// heads are followed by lanes without one until they number a power of two, or whole vectors. Lane j is then of the
// same head in every vector of an edge, and numbers of the row's own are kept once for each lane. Lanes without a head
// hold finite numbers that nobody reads.
#pragma once

#include <cstdint>
#include <cstring>

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
    constexpr int lanes = heads < width ? heads : width;  // NOLINT(bugprone-branch-clone): of some, both are one
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

}  // namespace
}  // namespace gnnplan::kernels::cpu
