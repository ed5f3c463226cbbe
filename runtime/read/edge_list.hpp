// SNAP and CSV edge lists.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/text_reader.hpp"

#include <filesystem>

namespace gnnplan::data {

// True of every text.
bool is_edge_list(const Source& source);

// One edge "from to" a line, ids from 0 or 1, separated by blanks, tabs, commas or semicolons. Columns are those that a
// header names (edge_columns.hpp); without one the third number is the weight, where weights are to be read; further
// numbers are ignored, and lines with such are counted. Lines that start with # or % are comments. The vertices are those
// up to the largest id, or as many as a comment "# Nodes: n" declares when those are more. IndexBase::automatic takes ids
// for counted from 1 when none is 0. Where all of a file is read, other forms are refused (EdgeLines); where a share is,
// that is up to who puts the shares together.
ParsedGraph read_edge_list(TextReader& reader, const ReadOptions& options = {IndexBase::zero});
ParsedGraph read_edge_list(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace gnnplan::data
