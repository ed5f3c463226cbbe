// What was found when a graph was loaded: always shown to the user.
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
    bool split_generated = false;    // of labels
    Leftovers leftovers;             // what the data holds beside what is read of it
    std::vector<std::string> notes;  // generated features, labels, split; whole sentences
    std::vector<std::string> hints;  // what the user may have meant to say of the graph, for who can still say it
    // What speaks against the data being what it was read as: always shown.
    std::vector<std::string> remarks;

    std::string describe() const;  // one paragraph
    // Adds a remark where most ids have no edge, of data that does not say how many vertices it has, and where a file says
    // other sizes than it has. `with_edges`: how many vertices have an edge to another one. Returns whether there is one of ids.
    bool remark_sizes(const SaidSizes& said, std::int64_t with_edges);
};

// Throws ErrorCode::usage where something was generated that may be among what is not read of the data.
void check_generated(const LoadReport& report);

}  // namespace gnnplan::data
