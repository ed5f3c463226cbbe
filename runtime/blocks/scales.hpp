// The degrees that scales are made of, row by row, for a whole graph and for some rows of one.
#pragma once

#include "runtime/blocks/block.hpp"
#include "runtime/graph/rows.hpp"

#include <string>
#include <vector>

namespace gnnplan::data {

// Returns for each row that is here how many edges it has, or the sum of their weights.
std::vector<double> degrees(const Csr& matrix);

// The scales of vertices with these degrees, as the sources or as the targets of edges; a degree of 0 has the scale 0.
std::vector<double> degree_scales(std::vector<double> degrees, Normalisation normalisation, bool of_targets);

// Throws Error{data} for a negative degree, of the edges "into" or "out of" one of these vertices, where the
// normalisation takes its square root.
void refuse_negative_degrees(const std::vector<double>& degrees, const char* edges, const RowVertices& vertices,
                             Normalisation normalisation, const std::string& where);

// Throws Error{data} for a weight that is beyond a float once it is normalised. Rows are of A^T, and count with the
// columns and the scales in `order`; null: as in the file.
void refuse_large_values(const Csr& sources, const DegreeScales& scales, const VertexOrder* order,
                         const std::string& where);

}  // namespace gnnplan::data
