// What a network makes of every vertex, as .npy files: float32, a row for each vertex of the data.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/train/outputs.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace gnnplan::tools {

// Bytes of the file of so many vertices.
std::int64_t vertex_matrix_bytes(std::int64_t vertices, std::int64_t columns);

// A tensor of the executor's schedule whose rows are those of vertices.
struct VertexMatrix {
    const exec::Executor& executor;
    const Tensor& tensor;
    const train::OutputRows& rows;
};

// Collective: one file in the data's numbering. Every rank writes its own rows into it, so all ranks must be able to open
// it. Throws Error{cannot_create} or Error{io} on all ranks; `path` is then as it was.
void write_vertex_matrix(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& path);

// Collective: in this folder, for each rank that has rows, part-N.npy, and vertices-N.npy, which says whose they are; and
// index.json, which names them and is written last. Returns the bytes of all parts. Throws as above; without index.json the
// folder is not complete.
std::int64_t write_vertex_parts(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& folder);
// The last file that is written into the folder.
std::string index_of_parts(const std::string& folder);

// What write_vertex_matrix() wrote, read by parts.
class VertexMatrixFile {
public:
    // Throws Error{missing_input} when it cannot be opened, Error{data} when it is no such file of so many vertices and
    // columns, or is cut off.
    VertexMatrixFile(std::string path, std::int64_t vertices, std::int64_t columns);
    ~VertexMatrixFile();
    VertexMatrixFile(const VertexMatrixFile&) = delete;
    VertexMatrixFile& operator=(const VertexMatrixFile&) = delete;

    // Some columns of these rows of a tensor, one after the other. Throws Error{io}.
    void read(const train::OutputRows& rows, Range part, Range columns, float* values) const;

private:
    void read(std::int64_t vertex, Range columns, std::span<float> values) const;

    std::string path_;
    std::int64_t header_bytes_;
    std::int64_t columns_;
    int descriptor_;
};

}  // namespace gnnplan::tools
