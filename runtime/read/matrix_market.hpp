// Matrix Market coordinate files.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/text_reader.hpp"

namespace gnnplan::data {

// A square sparse matrix (pattern, real or integer; general or symmetric), ids from 1: entry (i, j) is the edge i -> j.
// Values are ignored; an entry off the diagonal of a symmetric matrix stands for both directions.
ParsedGraph read_matrix_market(TextReader& reader);

}  // namespace gnnplan::data
