// Whether sizes can be those of a graph, and whether a model reads values of its matrix.
#pragma once

#include <gnnplan/catalog.hpp>
#include <gnnplan/ir/op_graph.hpp>

namespace gnnplan::question {

// Throws Error{usage} unless there is a vertex, and the nonzeros fit a matrix of so many rows.
void check_sizes(const GraphSizes& sizes);

// Whether the model's sums read the values of the matrix.
bool reads_values(const OpGraph& model);

}  // namespace gnnplan::question
