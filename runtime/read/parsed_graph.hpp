// The result of every graph reader: edges as listed, and remarks about the file.
#pragma once

#include "runtime/graph/edges.hpp"
#include "runtime/graph/file_share.hpp"
#include "runtime/read/edge_lines.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::data {

constexpr std::int64_t largest_vertices = (std::int64_t{1} << 31) - 1;

// Where ids of an edge list begin, as the user says; unsaid: at 0, with a remark where the file looks otherwise.
enum class IndexBase : std::uint8_t { unsaid, zero, one, automatic };

// How the graph of a file is to be read: what the user says of it, and how much.
struct ReadOptions {
    IndexBase index_base = IndexBase::unsaid;
    // Read a weight of every edge, which a form says where it keeps: a finite number that a float can hold.
    bool edge_weights = false;
    // Read these entries alone. The shares have all entries between them; of what cannot be read from its middle, such
    // as compressed files, the first share has all.
    FileShare share = {};
    EdgeList::Take take = {};  // gets the edges instead of ParsedGraph::edges
};

// The sizes that data declares, where it does not list its vertices.
struct SaidSizes {
    bool from_ids = false;    // there are as many vertices as the largest id says, or `nodes` where these are more
    std::int64_t nodes = -1;  // by a comment, which need not be right; -1: none says it
    std::int64_t edges = -1;  // likewise
};

struct ParsedGraph {
    std::string format;
    int index_base = 0;
    std::vector<std::string> hints = {};    // options that the user may have meant
    std::vector<std::string> remarks = {};  // signs that the data has another form than it was read as
    std::int64_t vertices = 0;
    SaidSizes said = {};
    bool from_one = false;        // the smallest id is 1, and no --index-base was given
    std::int64_t edges_read = 0;  // entries of the file
    // How many entries the file says that it has; -1: it does not. That they are there is up to who reads it in shares.
    std::int64_t edges_declared = -1;
    bool by_one = false;                   // the first share had all entries
    bool text = true;                      // entries are numbers in words
    bool divisible = true;                 // shares can be read by themselves
    std::int64_t edge_values_ignored = 0;  // of these, entries with a weight or other columns that are not read
    std::int64_t undirected = 0;           // entries that say that they are undirected
    EdgeLines lines = {};                  // of an edge list
    EdgeList edges;                        // ids in [0, vertices); weighted if weights were to be read
};

}  // namespace gnnplan::data
