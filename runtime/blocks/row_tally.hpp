// Counts the columns of rows' nonzeros, in any numbering.
#pragma once

#include "runtime/blocks/column_profile.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <gnnplan/base/range.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// Where a matrix holds anything beside a full diagonal. That needs no counting: in every numbering a range of rows has
// the columns of the same numbers there.
struct OffDiagonal {
    bool full_diagonal = false;
    bool few = false;                // rows with anything else, which are listed then
    std::vector<std::int32_t> rows;  // in the order of the file

    OffDiagonal() = default;
    explicit OffDiagonal(const Csr& matrix);  // of whole rows
};

// Adds the columns of all nonzeros of the rows, but for a full diagonal. `off` is of all edges of the matrix, or says
// nothing.
void tally_rows(const Graph& graph, MatrixId which, const OffDiagonal& off, Range rows, const VertexOrder& order,
                ColumnTally& tally);

}  // namespace gnnplan::data
