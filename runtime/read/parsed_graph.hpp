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

// What the user says of how the graph of a file is to be read.
struct ReadOptions {
    IndexBase index_base = IndexBase::unsaid;
    // Read a weight of every edge, which a form says where it keeps: a finite number that a float can hold.
    bool edge_weights = false;
};

struct ParsedGraph {
    std::string format;
    int index_base = 0;
    std::vector<std::string> hints = {};
    std::int64_t vertices = 0;
    std::int64_t edges_read = 0;           // entries of the file
    std::int64_t edge_values_ignored = 0;  // of these, entries with a weight or other columns that are not read
    EdgeList edges;                        // ids in [0, vertices); weighted if weights were to be read
};

}  // namespace gnnplan::data
