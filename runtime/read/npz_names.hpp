// The names under which arrays of an archive are read.
#pragma once

#include "runtime/read/array_archive.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::data {

// The name of the array that is read as features, labels, number of vertices, or weights of edges: PyTorch Geometric's
// name, else that of OGB's binary raw folders; "" where there is neither.
std::string features_array(const ArrayArchive& archive);  // x, node_feat
// The vertices of its rows, where these are not in order: the name with "_ids" behind it.
std::string feature_ids_array(const ArrayArchive& archive);
std::string labels_array(const ArrayArchive& archive);    // y, node_label, node_label_19 of IGB
std::string vertices_array(const ArrayArchive& archive);  // num_nodes, num_nodes_list
std::string weights_array(const ArrayArchive& archive);   // edge_weight, edge_feat

struct SplitArray {
    std::string name;
    bool mask = false;  // by its name: a number for each vertex, and not the ids of some
};

// The array that says which vertices are in subset 0 (train), 1 (valid) or 2 (test).
std::optional<SplitArray> split_array(const ArrayArchive& archive, std::uint8_t subset);

// All names, for messages: "a, b"; "none".
std::string names_of(const ArrayArchive& archive);

}  // namespace gnnplan::data
