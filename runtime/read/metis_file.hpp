// Reads METIS graph files.
#pragma once

#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/text_reader.hpp"

#include <filesystem>

namespace gnnplan::data {

// True of texts named .graph or .metis, gzipped or not, that begin with a number or a comment of METIS.
bool is_metis_file(const Source& source);

// An undirected graph: "vertices edges [fmt [ncon]]", then a line for each vertex with its neighbours, which count from
// 1; a blank line has none. Weights of edges are read where they are asked for, those of vertices never. Every edge is
// listed at both of its ends, with the same weight. The number of a vertex is that of its line, which only a reader of
// all lines before it knows, so that the first share of a file has all of them.
ParsedGraph read_metis_file(TextReader& reader, const ReadOptions& options = {});
ParsedGraph read_metis_file(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace gnnplan::data
