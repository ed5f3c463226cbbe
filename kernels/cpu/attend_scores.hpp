// Vectors of scores of edges, as they are stored, and the factors of dropout for them. Part of vector_body.hpp, whose
// linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/draws_body.hpp"
#include "kernels/cpu/edge_layout.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

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
    return x == x ? m + rest + e * 0.693359375F : x;  // NOLINT(misc-redundant-expression): NaN is not x
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
    [[gnu::always_inline]] void fetch(std::int64_t column) const {
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
