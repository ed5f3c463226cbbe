#include "bench/kernels/rmat_block.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace gnnplan::bench {
namespace {

// SplitMix64 (Steele et al. 2014): the number at place `i` of a random sequence.
std::uint64_t random_bits(std::uint64_t i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    return x ^ x >> 31U;
}

// Draws edges over 2^levels ids, squeezed into `vertices` and renamed.
class Drawer {
public:
    explicit Drawer(std::int64_t vertices)
        : vertices_(vertices),
          levels_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices - 1)))),
          name_(at(vertices)) {
        std::iota(name_.begin(), name_.end(), 0);
        std::shuffle(name_.begin(), name_.end(), std::mt19937_64(1));
    }

    // Each level takes 16 bits.
    std::pair<std::int32_t, std::int32_t> edge(std::int64_t number) const {
        constexpr std::uint64_t a = 37355, b = 12452, c = 12452;  // of 65536
        std::int64_t from = 0, to = 0;
        std::uint64_t bits = 0;
        for (int level = 0; level < levels_; ++level) {
            bits = level % 4 == 0 ? random_bits(static_cast<std::uint64_t>(8 * number + level / 4)) : bits >> 16U;
            const std::uint64_t u = bits & 0xffffU;
            from = 2 * from + (u >= a + b ? 1 : 0);
            to = 2 * to + ((u >= a && u < a + b) || u >= a + b + c ? 1 : 0);
        }
        return {name_[at(from * vertices_ >> levels_)], name_[at(to * vertices_ >> levels_)]};
    }

private:
    std::int64_t vertices_;
    int levels_;
    std::vector<std::int32_t> name_;
};

// Both directions of all edges, and the self loops. Where a thread writes is chance; rows are sorted afterwards.
RmatBlock scatter(const Drawer& drawer, std::int64_t vertices, std::int64_t edges) {
    RmatBlock block;
    block.row_start.assign(at(vertices) + 1, 0);
    const auto place = [&](std::int32_t row) {
        return std::atomic_ref(block.row_start[at(row)]).fetch_add(1, std::memory_order_relaxed);
    };
#pragma omp parallel for
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto [from, to] = drawer.edge(e);
        place(from);
        place(to);
    }
    std::int64_t begin = 0;
    for (std::int64_t& start : block.row_start) begin += std::exchange(start, begin) + 1;
    block.column.resize(at(block.row_start.back()));
#pragma omp parallel for
    for (std::int64_t v = 0; v < vertices; ++v)
        block.column[at(place(static_cast<std::int32_t>(v)))] = static_cast<std::int32_t>(v);
#pragma omp parallel for
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto [from, to] = drawer.edge(e);
        block.column[at(place(from))] = to;
        block.column[at(place(to))] = from;
    }
    std::copy_backward(block.row_start.begin(), block.row_start.end() - 1, block.row_start.end());
    block.row_start.front() = 0;
    return block;
}

// Sorts the rows, drops what is there twice and closes the gaps.
RmatBlock clean(RmatBlock drawn, std::int64_t vertices) {
    RmatBlock block;
    block.row_start.assign(at(vertices) + 1, 0);
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int64_t v = 0; v < vertices; ++v) {
        const auto first = drawn.column.begin() + drawn.row_start[at(v)];
        const auto last = drawn.column.begin() + drawn.row_start[at(v) + 1];
        std::sort(first, last);
        block.row_start[at(v) + 1] = std::unique(first, last) - first;
    }
    std::partial_sum(block.row_start.begin(), block.row_start.end(), block.row_start.begin());
    block.column.resize(at(block.row_start.back()));
#pragma omp parallel for
    for (std::int64_t v = 0; v < vertices; ++v) {
        const std::int64_t begin = block.row_start[at(v)], count = block.row_start[at(v) + 1] - begin;
        std::copy_n(drawn.column.begin() + drawn.row_start[at(v)], count, block.column.begin() + begin);
    }
    return block;
}

}  // namespace

kernels::Csr RmatBlock::view() const {
    const auto rows = static_cast<std::int64_t>(row_start.size()) - 1;
    return {rows, rows, row_start.data(), column.data(), value.data()};
}

RmatBlock rmat_block(std::int64_t vertices, std::int64_t edges) {
    RmatBlock block = clean(scatter(Drawer(vertices), vertices, edges), vertices);
    block.value.resize(block.column.size());
    const auto degree = [&](std::int64_t v) {
        return static_cast<double>(block.row_start[at(v) + 1] - block.row_start[at(v)]);
    };
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int64_t v = 0; v < vertices; ++v) {
        for (std::int64_t k = block.row_start[at(v)]; k < block.row_start[at(v) + 1]; ++k)
            block.value[at(k)] = static_cast<float>(1 / std::sqrt(degree(v) * degree(block.column[at(k)])));
    }
    return block;
}

}  // namespace gnnplan::bench
