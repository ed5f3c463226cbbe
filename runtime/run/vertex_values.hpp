// The values that a rank has of a matrix of vertices, which are written to files.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/deploy/outputs.hpp"
#include "runtime/run/values_seen.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::run {

// A tensor of the executor's schedule whose rows are those of vertices.
struct VertexMatrix {
    const exec::Executor& executor;
    const Tensor& tensor;
    const deploy::OutputRows& rows;
    bool one_process = false;  // ranks are threads, which can all write to the file that rank 0 has opened
};

// Some values are not finite; thrown on every rank. The file or folder that was to be written is unchanged.
class NotFiniteError : public comm::AgreedError {
public:
    NotFiniteError(const NotFinite& values, const std::string& path);
    NotFinite found;  // without the layer, which the writer does not know
};

// Whether this rank is the first that holds its block of the tensor, which it then answers for.
bool answers_for_block(const exec::Executor& executor, const Tensor& tensor);

// Calls visit(rows, values) for the rows of this rank's block, not too many at a time, because they are copied.
template <class Visit>
void visit_rows(const VertexMatrix& matrix, const Visit& visit) {
    constexpr std::int64_t most_rows = 4096;
    const Block block = matrix.executor.block(matrix.tensor.name);
    for (std::int64_t begin = 0; begin < block.rows.size(); begin += most_rows) {
        const Range part{begin, std::min(block.rows.size(), begin + most_rows)};
        const Range rows{block.rows.begin + part.begin, block.rows.begin + part.end};
        visit(rows, matrix.executor.values(matrix.tensor.name, part));
    }
}

// The same for rows that are written: all their values pass through here.
template <class Visit>
void visit_written(const VertexMatrix& matrix, ValuesSeen& seen, const Visit& visit) {
    const Range columns = matrix.executor.block(matrix.tensor.name).columns;
    visit_rows(matrix, [&](Range rows, const std::vector<float>& values) {
        seen.look(matrix.rows, rows, columns, values);
        visit(rows, values);
    });
}

// Collective: throws NotFiniteError if any value is not finite: files with such values are not written.
void refuse_not_finite(comm::Communicator& comm, const ValuesSeen& seen, const std::string& path);

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace gnnplan::run
