// Rows of the prepared matrices out of the edges that a rank has been dealt.
#pragma once

#include "runtime/blocks/block.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/graph/rows.hpp"
#include "runtime/load/deal.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::load {

struct MadeRows {
    data::Csr sources;  // rows of A^T, self loops included; columns are vertices
    data::Csr targets;  // rows of A, the same; none unless targets were dealt and A is not A^T
    // These count the rows as listed:
    data::PreparationCounts counts;  // without `one_way`
    std::uint64_t imbalance = 0;     // see imbalance_of_rows()
    std::uint64_t pattern_imbalance = 0;
    std::int64_t rows_with_edges = 0;  // rows with an edge from another vertex or, where targets were dealt, to one
};

// Does to some rows what build_graph() does to a graph.
MadeRows make_rows(Dealt dealt, std::int64_t rows, std::int64_t vertices, const data::RowVertices& names,
                   const data::Preparation& preparation, bool with_targets);

// Numbers the columns, which are vertices, as an order has them, ascending in each row.
void number_columns(data::Csr& matrix, const data::VertexOrder& order);

// The columns outside `kept` in which a matrix has a nonzero.
std::shared_ptr<const data::VertexSet> columns_met(const std::vector<const data::Csr*>& matrices, Range kept,
                                                   std::int64_t vertices);

}  // namespace gnnplan::load
