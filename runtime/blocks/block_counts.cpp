// The counts of block.hpp, without building anything.
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/matrix_rows.hpp"

#include <algorithm>

namespace gnnplan::data {
namespace {

void mark_columns(const Graph& graph, MatrixId which, Range rows, Range columns, const VertexOrder* order,
                  std::vector<bool>& met) {
    MatrixRows reader(graph, which, columns, order);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (const std::int32_t c : reader.any_order(i)) met[static_cast<std::size_t>(c - columns.begin)] = true;
    }
}

}  // namespace

std::int64_t block_nonzeros(const Graph& graph, MatrixId which, Range rows, Range columns, const VertexOrder* order) {
    const Csr& matrix = graph.matrix(which);
    if (rows.empty() || columns.empty()) return 0;
    const bool in_file_order = order == nullptr || order->identity();
    if (in_file_order && columns.begin <= 0 && columns.end >= matrix.vertices) {
        return matrix.row_start[static_cast<std::size_t>(rows.end - matrix.first_row)] -
               matrix.row_start[static_cast<std::size_t>(rows.begin - matrix.first_row)];
    }
    MatrixRows reader(graph, which, columns, order);
    std::int64_t count = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) count += std::ssize(reader.any_order(i));
    return count;
}

std::vector<std::int32_t> column_nonzeros(const Graph& graph, MatrixId which, Range rows, Range columns,
                                          const VertexOrder* order) {
    MatrixRows reader(graph, which, columns, order);
    std::vector<std::int32_t> counts(static_cast<std::size_t>(columns.size()), 0);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (const std::int32_t c : reader.any_order(i)) ++counts[static_cast<std::size_t>(c - columns.begin)];
    }
    return counts;
}

std::int64_t distinct_columns(const Graph& graph, MatrixId which, Range rows, Range columns, const VertexOrder* order) {
    std::vector<bool> met(static_cast<std::size_t>(columns.size()), false);
    mark_columns(graph, which, rows, columns, order, met);
    return std::count(met.begin(), met.end(), true);
}

std::int64_t columns_met(const Graph& graph, bool transposed, Range rows, Range columns) {
    std::vector<bool> met(static_cast<std::size_t>(columns.size()), false);
    if (graph.drawn.empty()) mark_columns(graph, MatrixId(transposed), rows, columns, nullptr, met);
    for (int layer = 1; layer <= static_cast<int>(graph.drawn.size()); ++layer)
        mark_columns(graph, MatrixId(transposed, layer), rows, columns, nullptr, met);
    return std::count(met.begin(), met.end(), true);
}

}  // namespace gnnplan::data
