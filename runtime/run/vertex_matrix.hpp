// The outputs of a network for every vertex, as .npy files: float32, a row for each vertex of the data.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/deploy/outputs.hpp"
#include "runtime/run/values_seen.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::run {

// Bytes of the file of so many vertices.
std::int64_t vertex_matrix_bytes(std::int64_t vertices, std::int64_t columns);

// A tensor of the executor's schedule whose rows are those of vertices.
struct VertexMatrix {
    const exec::Executor& executor;
    const Tensor& tensor;
    const deploy::OutputRows& rows;
    bool one_process = false;  // ranks are threads, which can all write to the file that rank 0 has opened
};

// Whether this rank is the first that holds its block of the tensor, which it then answers for.
bool answers_for_block(const exec::Executor& executor, const Tensor& t);

// Calls visit(rows, values) for the rows of this rank's block, not too many at a time, because they are copied.
void visit_rows(const VertexMatrix& matrix,
                const std::function<void(Range rows, const std::vector<float>& values)>& visit);

// Some values are not finite; thrown on every rank. The file or folder that was to be written is unchanged.
class NotFiniteError : public comm::AgreedError {
public:
    NotFiniteError(const NotFinite& values, const std::string& path);
    NotFinite found;  // without the layer, which the writer does not know
};

// Collective: writes one file in the data's numbering. Every rank writes its own rows into it, so all ranks must be
// able to open it. before_named(), if given, is called on rank 0 with the hash of all values before the file gets its
// name. Throws Error{cannot_create}, Error{io} or NotFiniteError on all ranks; `path` is then as it was.
void write_vertex_matrix(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& path,
                         const std::function<void(const std::string& hash)>& before_named = {});

// Collective: writes into this folder, for each rank that has rows, part-N.npy, and vertices-N.npy, which names their
// vertices; and index.json, which lists them and is written last, once rank 0 has found them all whole. Returns the
// bytes of all parts. Throws the same errors, and then leaves none of its files in the folder.
std::int64_t write_vertex_parts(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& folder);
// The path of the file that is written last into the folder; and whether `name` is that of one of the other files.
std::string index_of_parts(const std::string& folder);
bool is_part(const std::string& name);

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
