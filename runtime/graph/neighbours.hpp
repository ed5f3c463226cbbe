// The undirected pattern of a graph, which partitions and vertex cuts look at.
#pragma once

#include "runtime/graph/csr.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::data {

// An undirected pattern without self loops: the neighbours of i are vertex[start[i]] .. vertex[start[i + 1] - 1],
// ascending.
struct Neighbours {
    std::vector<std::int32_t> start;
    std::vector<std::int32_t> vertex;

    std::int64_t vertices() const { return static_cast<std::int64_t>(start.size()) - 1; }
    std::span<const std::int32_t> of(std::int64_t v) const {
        const auto i = static_cast<std::size_t>(v);
        return {vertex.data() + start[i], vertex.data() + start[i + 1]};
    }
    std::int64_t degree(std::int64_t v) const { return static_cast<std::int64_t>(of(v).size()); }
};

// Edges count whatever their direction. Throws Error{unavailable} for graphs beyond 32-bit indices.
Neighbours neighbours_of(const Graph& graph);

}  // namespace gnnplan::data
