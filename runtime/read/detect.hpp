// Which of the known forms a path holds.
#pragma once

#include "runtime/read/parsed_graph.hpp"

#include <cstdint>
#include <filesystem>

namespace gnnplan::data {

enum class GraphForm : std::uint8_t { ogb_folder, npz, matrix_market, edge_list };

// Looks at the path and the first bytes. Throws ErrorCode::missing_input when nothing is there and ErrorCode::data for
// what is known not to be a graph (pickles, lone arrays, binary files).
GraphForm detect_form(const std::filesystem::path& path);

// Throws ErrorCode::usage when ids are said to count from 1 in a form where they count from 0.
ParsedGraph read_graph(const std::filesystem::path& path, GraphForm form, IndexBase index_base);

}  // namespace gnnplan::data
