#include "runtime/graph/fingerprint.hpp"

#include "runtime/graph/row_parts.hpp"

#include <xxhash.h>

#include <bit>
#include <numeric>

namespace gnnplan::data {

namespace {

std::string text_of(std::uint64_t hash) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; hash >>= 4U) text[i] = digits[hash & 15U];
    return "xxh3:" + text;
}

}  // namespace

std::string fingerprint(const std::vector<std::int32_t>& labels) {
    return text_of(XXH3_64bits(labels.data(), labels.size() * sizeof labels[0]));
}

std::string fingerprint(const LabelBits& labels) {
    const auto hash = [](const std::vector<std::uint8_t>& bits, std::uint64_t seed) {
        return XXH3_64bits_withSeed(bits.data(), bits.size(), static_cast<XXH64_hash_t>(seed));
    };
    return text_of(hash(labels.known, hash(labels.value, static_cast<std::uint64_t>(labels.columns))));
}

std::string fingerprint(const std::vector<std::uint8_t>& subset) {
    return text_of(XXH3_64bits(subset.data(), subset.size()));
}

std::uint64_t row_hash(std::int64_t v, std::span<const float> row) {
    return XXH3_64bits_withSeed(row.data(), row.size_bytes(), static_cast<XXH64_hash_t>(v));
}

std::string feature_fingerprint(std::uint64_t sum) { return text_of(sum); }

namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

// They are asked for every edge.
std::uint64_t hash(std::int32_t from, std::int32_t to) {
    const auto ends =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32U | static_cast<std::uint32_t>(to);
    return mix(ends + 0x9e3779b97f4a7c15U);
}
std::uint64_t hash(std::int32_t from, std::int32_t to, float weight) {
    return mix(hash(from, to) ^ std::bit_cast<std::uint32_t>(weight));
}

// The sum, modulo 2^64, of a number for each row: of its index, where its entries begin, and how many it has.
template <class Number>
std::uint64_t sum_of_rows(const Csr& matrix, const Number& number) {
    const std::vector<Range> parts = row_parts(matrix.row_start);
    std::vector<std::uint64_t> sums(parts.size(), 0);
    for_parts(std::ssize(parts), [&](std::int64_t p) {
        const auto part = static_cast<std::size_t>(p);
        std::uint64_t sum = 0;
        for (std::int64_t i = parts[part].begin; i < parts[part].end; ++i)
            sum += number(i, static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(i)]),
                          static_cast<std::size_t>(matrix.degree(i)));
        sums[part] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

}  // namespace

std::uint64_t hash_of_rows(const Csr& sources, const RowVertices& vertices) {
    return sum_of_rows(sources, [&](std::int64_t i, std::size_t begin, std::size_t count) {
        std::uint64_t hash = XXH3_64bits_withSeed(sources.column.data() + begin, count * sizeof(std::int32_t),
                                                  static_cast<XXH64_hash_t>(vertices[i]));
        if (sources.weighted() && count > 0)
            hash = XXH3_64bits_withSeed(sources.weight.data() + begin, count * sizeof(float), hash);
        return hash;
    });
}

std::uint64_t hash_of_listed(std::span<const Edge> edges, int reader) {
    std::uint64_t sum = 0;
    for (const Edge& edge : edges) sum += hash(edge.from, edge.to, static_cast<float>(reader));
    return sum;
}

std::uint64_t hash_of_row_listed(std::int64_t vertex, int reader) {
    const auto row = static_cast<std::int32_t>(vertex);
    return hash(row, row, static_cast<float>(reader));
}

std::string listing_fingerprint(std::uint64_t sum) { return text_of(sum); }

std::string graph_fingerprint(std::int64_t vertices, std::uint64_t sum) {
    return text_of(XXH3_64bits_withSeed(&sum, sizeof sum, static_cast<XXH64_hash_t>(vertices)));
}

std::string fingerprint(const Graph& graph) {
    return graph_fingerprint(graph.vertices(), hash_of_rows(graph.matrix(forward_matrix)));
}

std::uint64_t imbalance_of_rows(const Csr& sources, const RowVertices& vertices, bool with_weights) {
    return sum_of_rows(sources, [&](std::int64_t i, std::size_t begin, std::size_t count) {
        const auto target = static_cast<std::int32_t>(vertices[i]);
        std::uint64_t sum = 0;
        for (std::size_t k = begin; k < begin + count; ++k) {
            const std::int32_t source = sources.column[k];
            sum += with_weights && sources.weighted()
                       ? hash(source, target, sources.weight[k]) - hash(target, source, sources.weight[k])
                       : hash(source, target) - hash(target, source);
        }
        return sum;
    });
}

}  // namespace gnnplan::data
