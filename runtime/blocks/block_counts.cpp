// What block.hpp counts, without building anything.
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/matrix_rows.hpp"

#include <algorithm>

namespace gnnplan::data {

std::int64_t block_nonzeros(const Graph& graph, MatrixId which, Range rows, Range columns, const VertexOrder* order) {
    const Csr& matrix = graph.matrix(which);
    if (rows.empty() || columns.empty()) return 0;
    const bool in_file_order = order == nullptr || order->identity();
    if (in_file_order && columns.begin <= 0 && columns.end >= matrix.vertices) {
        return matrix.row_start[static_cast<std::size_t>(rows.end)] -
               matrix.row_start[static_cast<std::size_t>(rows.begin)];
    }
    MatrixRows reader(matrix, columns, order);
    std::int64_t count = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) count += std::ssize(reader.any_order(i));
    return count;
}

std::vector<std::int32_t> column_nonzeros(const Graph& graph, MatrixId which, Range rows, Range columns,
                                          const VertexOrder* order) {
    MatrixRows reader(graph.matrix(which), columns, order);
    std::vector<std::int32_t> counts(static_cast<std::size_t>(columns.size()), 0);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (const std::int32_t c : reader.any_order(i)) ++counts[static_cast<std::size_t>(c - columns.begin)];
    }
    return counts;
}

std::int64_t distinct_columns(const Graph& graph, MatrixId which, Range rows, Range columns, const VertexOrder* order) {
    const std::vector<std::int32_t> counts = column_nonzeros(graph, which, rows, columns, order);
    return std::ssize(counts) - std::count(counts.begin(), counts.end(), 0);
}

}  // namespace gnnplan::data
