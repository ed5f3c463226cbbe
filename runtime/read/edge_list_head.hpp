// The head of an edge list: comments that say sizes, a header that names columns, or the first line of numbers.
#pragma once

#include "runtime/read/edge_columns.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/text_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gnnplan::data {

inline bool is_comment(std::string_view line) { return !line.empty() && (line[0] == '#' || line[0] == '%'); }

// Notes in `graph` the sizes that a comment declares: "# Nodes: 4039 Edges: 88234", as SNAP writes it.
void note_sizes(std::string_view comment, ParsedGraph& graph);

// Everything before the edges of a file.
struct EdgeListHead {
    std::optional<EdgeColumns> columns = {};  // where a header names them
    bool csv = false;
    bool quotes = false;     // in the line behind the header
    std::int64_t end = 0;    // where the first line of numbers begins
    std::int64_t lines = 0;  // before it
    // The numbers of that line, where no header is needed to tell what they are; -1 for those that are no integers.
    std::array<std::int64_t, 4> numbers = {-1, -1, -1, -1};
    std::int64_t count = 0;
};

// Reads the head, notes in `graph` the sizes that it declares, and leaves the reader before the first line of numbers.
EdgeListHead read_edge_list_head(TextReader& reader, const ReadOptions& options, ParsedGraph& graph);

}  // namespace gnnplan::data
