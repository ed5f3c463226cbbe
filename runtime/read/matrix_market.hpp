// Matrix Market coordinate files.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/text_reader.hpp"

#include <filesystem>

namespace gnnplan::data {

// True of texts with the banner "%%MatrixMarket", and of those named .mtx or .mtx.gz.
bool is_matrix_market(const Source& source);

// A square sparse matrix (pattern, real or integer; general or symmetric), ids from 1: entry (i, j) is the edge i -> j.
// Values are ignored; an entry off the diagonal of a symmetric matrix stands for both directions.
ParsedGraph read_matrix_market(TextReader& reader);
ParsedGraph read_matrix_market(const std::filesystem::path& path, IndexBase index_base);

}  // namespace gnnplan::data
