#include "runtime/graph/fingerprint.hpp"

#include <xxhash.h>

#include <bit>

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

std::string fingerprint(const std::vector<std::uint8_t>& subset) {
    return text_of(XXH3_64bits(subset.data(), subset.size()));
}

std::uint64_t row_hash(std::int64_t v, std::span<const float> row) {
    return XXH3_64bits_withSeed(row.data(), row.size_bytes(), static_cast<XXH64_hash_t>(v));
}

std::string feature_fingerprint(std::uint64_t sum) { return text_of(sum); }

namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014) on the two ends, then on the weight: it is asked for every edge.
std::uint64_t hash(std::int32_t from, std::int32_t to, float weight) {
    const auto mix = [](std::uint64_t x) {
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31U);
    };
    const auto ends =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32U | static_cast<std::uint32_t>(to);
    return mix(mix(ends + 0x9e3779b97f4a7c15U) ^ std::bit_cast<std::uint32_t>(weight));
}

}  // namespace

std::uint64_t hash_of_rows(const Csr& sources, const RowVertices& vertices) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < sources.rows(); ++i) {
        const auto begin = static_cast<std::size_t>(sources.row_start[static_cast<std::size_t>(i)]);
        const auto count = static_cast<std::size_t>(sources.degree(i));
        std::uint64_t hash = XXH3_64bits_withSeed(sources.column.data() + begin, count * sizeof(std::int32_t),
                                                  static_cast<XXH64_hash_t>(vertices[i]));
        if (sources.weighted() && count > 0)
            hash = XXH3_64bits_withSeed(sources.weight.data() + begin, count * sizeof(float), hash);
        sum += hash;
    }
    return sum;
}

std::uint64_t hash_of_listed(std::span<const Edge> edges, int reader) {
    std::uint64_t sum = 0;
    for (const Edge& edge : edges) sum += hash(edge.from, edge.to, static_cast<float>(reader));
    return sum;
}

std::string listing_fingerprint(std::uint64_t sum) { return text_of(sum); }

std::string graph_fingerprint(std::int64_t vertices, std::uint64_t sum) {
    return text_of(XXH3_64bits_withSeed(&sum, sizeof sum, static_cast<XXH64_hash_t>(vertices)));
}

std::string fingerprint(const Graph& graph) {
    return graph_fingerprint(graph.vertices(), hash_of_rows(graph.matrix(true)));
}

std::uint64_t imbalance_of_rows(const Csr& sources, const RowVertices& vertices, bool with_weights) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < sources.rows(); ++i) {
        const auto target = static_cast<std::int32_t>(vertices[i]);
        const auto begin = static_cast<std::size_t>(sources.row_start[static_cast<std::size_t>(i)]);
        for (std::size_t k = begin; k < begin + static_cast<std::size_t>(sources.degree(i)); ++k) {
            const float weight = with_weights && sources.weighted() ? sources.weight[k] : 1.0F;
            sum += hash(sources.column[k], target, weight) - hash(target, sources.column[k], weight);
        }
    }
    return sum;
}

}  // namespace gnnplan::data
