// SNAP and CSV edge lists.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/text_reader.hpp"

#include <filesystem>

namespace gnnplan::data {

// True of every text.
bool is_edge_list(const Source& source);

// Each line has one edge "from to", with ids from 0 or 1, separated by blanks, tabs, commas or semicolons. A header may
// name the columns (edge_columns.hpp). Without one the third number is the weight, where weights are to be read;
// further numbers are ignored, and lines that have some are counted. Lines that start with # or % are comments. The
// vertices are those up to the largest id, or as many as a comment "# Nodes: n" declares when those are more.
// IndexBase::automatic takes ids as counted from 1 when none is 0. Other forms are refused (EdgeLines): here where all
// of a file is read, by the caller that puts the shares together where only a share is.
ParsedGraph read_edge_list(TextReader& reader, const ReadOptions& options = {IndexBase::zero});
ParsedGraph read_edge_list(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace gnnplan::data
