// The entries of an archive as edges, whichever arrays they are in.
#pragma once

#include "runtime/read/array_archive.hpp"
#include "runtime/read/integer_stream.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/weight_stream.hpp"

#include <cstdint>
#include <string>

namespace gnnplan::data {

// A list of edges before any is read: the part of its `count` entries that the share of `options` has, and their
// weights, which are in the array of this name. `seekable`: entries can be read without those before them.
struct ListedEdges {
    ListedEdges(const char* format, const ArrayArchive& archive, std::int64_t count, bool seekable,
                const std::string& weights_name, const ReadOptions& options);

    // Reads the share's entries, whose ends are the next ids of the two streams, one after the other from `from` alone
    // if they are the same stream. Returns the largest id, -1 without entries.
    std::int32_t read_pairs(IntegerStream& from, IntegerStream& to, std::int64_t limit);
    bool reads_all() const { return share.size() == edges; }

    ParsedGraph graph;
    WeightStream weights;
    Range share;
    std::int64_t edges = 0;
};

// A SciPy matrix as save_npz() writes it: CSR or COO. Throws ErrorCode::data for other formats.
bool is_scipy(const ArrayArchive& archive);
ParsedGraph read_scipy(const ArrayArchive& archive, const ReadOptions& options);

}  // namespace gnnplan::data
