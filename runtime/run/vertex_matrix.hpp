// The outputs of a network for every vertex, as one .npy file: float32, a row for each vertex of the data.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/deploy/outputs.hpp"
#include "runtime/run/vertex_values.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace gnnplan::run {

// Bytes of the file of so many vertices.
std::int64_t vertex_matrix_bytes(std::int64_t vertices, std::int64_t columns);

// Collective: writes one file in the data's numbering. Every rank writes its own rows into it, so all ranks must be
// able to open it. before_named(), if given, is called on rank 0 with the hash of all values before the file gets its
// name. Throws Error{cannot_create}, Error{io} or NotFiniteError on all ranks; `path` is then as it was.
void write_vertex_matrix(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& path,
                         const std::function<void(const std::string& hash)>& before_named = {});

// A file of write_vertex_matrix(), read by parts.
class VertexMatrixFile {
public:
    // Throws Error{missing_input} when it cannot be opened, Error{data} when it is no such file of so many vertices and
    // columns, or is cut off.
    VertexMatrixFile(std::string path, std::int64_t vertices, std::int64_t columns);
    ~VertexMatrixFile();
    VertexMatrixFile(const VertexMatrixFile&) = delete;
    VertexMatrixFile& operator=(const VertexMatrixFile&) = delete;

    // Some columns of these rows of a tensor, one after the other. Throws Error{io}.
    void read(const deploy::OutputRows& rows, Range part, Range columns, float* values) const;

private:
    void read(std::int64_t vertex, Range columns, std::span<float> values) const;

    std::string path_;
    std::int64_t header_bytes_;
    std::int64_t columns_;
    int descriptor_;
};

// Collective: reads such a file into a tensor of the executor, every rank its block. Returns the hash of all values.
// Throws the errors of VertexMatrixFile, on all ranks.
std::string read_vertex_matrix(comm::Communicator& comm, exec::Executor& executor, TensorId tensor,
                               const deploy::OutputRows& rows, const std::string& path);

}  // namespace gnnplan::run
