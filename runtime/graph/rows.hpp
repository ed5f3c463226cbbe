// How a list of edges becomes rows of a matrix: counting sort by row, sort and unique within rows, a merge of two
// patterns.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// RowVertices gives the vertex of each row of a matrix whose columns are vertices: row i belongs to the vertex at
// position `first` + i of `order`, or of the file's order where that is null.
struct RowVertices {
    std::int64_t first = 0;
    const VertexOrder* order = nullptr;

    std::int64_t operator[](std::int64_t row) const {
        return order == nullptr ? first + row : order->vertex_at(first + row);
    }
};

// Turns counts of row i at row_start[i + 1] into starts.
void accumulate_counts(std::vector<std::int64_t>& row_start);
// After a scatter that advanced row_start[i] to the end of row i: moves the starts back.
void rewind_starts(std::vector<std::int64_t>& row_start);

// Rows in the order of listing, Edge::from being the row, with self loops and duplicates as listed; consumes the edges.
Csr scatter(EdgeList edges, std::int64_t rows, bool weighted);

// Sorts each row and drops repeated columns, whose weights are added up, and the vertex itself, in place. Throws
// ErrorCode::data when weights add up to more than a float holds; `into`: rows are of targets, which the message names.
void clean_rows(Csr& csr, const RowVertices& vertices, PreparationCounts& counts, bool into = false);

// The union of the rows of two matrices (of one where `b` is null), with the mean of the weights where both have an
// entry, and with a self loop in every row when asked.
Csr merge(const Csr& a, const Csr* b, const RowVertices& vertices, bool self_loops, bool weighted);

}  // namespace gnnplan::data
