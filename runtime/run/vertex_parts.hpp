// The outputs of a network for every vertex, as a folder of .npy files, of which each rank writes its own.
#pragma once

#include "runtime/run/vertex_values.hpp"

#include <cstdint>
#include <string>

namespace gnnplan::run {

// Collective: writes into this folder, for each rank that has rows, part-N.npy, and vertices-N.npy, which names their
// vertices; and index.json, which lists them and is written last, once rank 0 has found them all whole. Returns the
// bytes of all parts. Throws the errors of write_vertex_matrix(), and then leaves none of its files in the folder.
std::int64_t write_vertex_parts(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& folder);
// The path of the file that is written last into the folder; and whether `name` is that of one of the other files.
std::string index_of_parts(const std::string& folder);
bool is_part(const std::string& name);

}  // namespace gnnplan::run
