// The two forms a generated graph is written in; write_graph() gives them their names.
#pragma once

#include "runtime/generate/generate.hpp"

#include <filesystem>

namespace gnnplan::data {

// Creates the folder. Throws ErrorCode::cannot_create and ErrorCode::io.
void write_ogb(const GeneratedGraph& graph, const std::filesystem::path& folder);

// Creates the file. Throws the same errors.
void write_npz(const GeneratedGraph& graph, const std::filesystem::path& file);

}  // namespace gnnplan::data
