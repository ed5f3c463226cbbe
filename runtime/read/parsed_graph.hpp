// What every graph reader hands on: edges as listed, with what there is to say about the file.
#pragma once

#include "runtime/graph/edges.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::data {

constexpr std::int64_t largest_vertices = (std::int64_t{1} << 31) - 1;

// What the user says of the ids of an edge list; nothing: they count from 0, and what speaks against that is remarked.
enum class IndexBase : std::uint8_t { unsaid, zero, one, automatic };

struct ParsedGraph {
    std::string format;
    int index_base = 0;
    std::vector<std::string> hints = {};
    std::int64_t vertices = 0;
    std::int64_t edges_read = 0;           // entries of the file
    std::int64_t edge_values_ignored = 0;  // of these, entries with a weight or other columns
    EdgeList edges;                        // ids in [0, vertices)
};

}  // namespace gnnplan::data
