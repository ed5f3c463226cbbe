// Matrix Market coordinate files.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/text_reader.hpp"

#include <filesystem>

namespace gnnplan::data {

// True of texts whose first line that is not blank begins with "%%MatrixMarket", in any letters and with any number of
// percent signs, and of those named .mtx or .mtx.gz, which are refused without it.
bool is_matrix_market(const Source& source);

// A square sparse matrix (pattern, real or integer; general or symmetric), ids from 1: entry (i, j) is the edge i -> j,
// and its value the weight, where weights are to be read, which a pattern does not have. An entry off the diagonal of a
// symmetric matrix stands for both directions.
ParsedGraph read_matrix_market(TextReader& reader, const ReadOptions& options = {});
ParsedGraph read_matrix_market(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace gnnplan::data
