#include "runtime/graph/fingerprint.hpp"

#include <gnnplan/base/error.hpp>

#include <xxhash.h>

#include <memory>

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

std::string fingerprint(const Graph& graph) {
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
    ensure(state != nullptr && XXH3_64bits_reset(state.get()) == XXH_OK, "xxHash state");
    const auto add = [&](const void* bytes, std::size_t count) {
        if (count > 0) ensure(XXH3_64bits_update(state.get(), bytes, count) == XXH_OK, "xxHash update");
    };
    // The transposed pattern follows from this one and adds nothing.
    const Csr& csr = graph.out;
    add(&csr.vertices, sizeof csr.vertices);
    add(csr.row_start.data(), csr.row_start.size() * sizeof csr.row_start[0]);
    add(csr.column.data(), csr.column.size() * sizeof csr.column[0]);
    add(csr.weight.data(), csr.weight.size() * sizeof(float));
    return text_of(XXH3_64bits_digest(state.get()));
}

}  // namespace gnnplan::data
