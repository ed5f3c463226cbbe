// Findings about a graph while it was loaded: always shown to the user.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/unread.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::data {

struct LoadReport {
    std::string path;
    std::string format;                  // "OGB raw folder", "Matrix Market", ...
    int index_base = 0;                  // of the vertex ids in the file
    bool directed = false;               // as listed: some u -> v came without v -> u, or with one of another weight
    bool weights_only_directed = false;  // directed, though every u -> v came with v -> u
    bool symmetrised = false;            // the reverse of each edge was added
    bool self_loops_added = false;       // one on every vertex
    std::int64_t vertices = 0;
    std::int64_t edges_read = 0;  // entries of the file
    bool text = true;             // they are numbers in words
    bool divisible = true;        // ranks can read shares of them by themselves
    std::int64_t self_loops_dropped = 0;
    std::int64_t duplicates_dropped = 0;   // their weights are added up
    bool weighted = false;                 // edges have the weights of the data
    std::int64_t edge_values_ignored = 0;  // entries that carried a weight or other columns that are not used
    std::int64_t nonzeros = 0;             // of the prepared matrix
    bool features_generated = false;       // the data had none
    bool labels_generated = false;
    bool split_generated = false;        // of labels
    Leftovers leftovers;                 // arrays and files of the data that are not read
    std::uint64_t seed = 0;              // of what was generated
    std::vector<std::string> generated;  // in words
    std::vector<std::string> notes;      // what is not read; whole sentences
    std::vector<std::string> hints;      // options that the user may have meant, for commands that can still take them
    // Signs that the data is of another form than that which it was read as; they are always shown.
    std::vector<std::string> remarks;

    std::string describe() const;  // one paragraph
    // Adds a remark where most ids have no edge and the data does not list its vertices, and one where a file declares
    // other sizes than it has. `with_edges` vertices have an edge to another. Returns whether the first was added.
    bool remark_sizes(const SaidSizes& said, std::int64_t with_edges);
};

// Throws ErrorCode::usage where something was generated that the data may hold in arrays or files that are not read.
void check_generated(const LoadReport& report);

}  // namespace gnnplan::data
