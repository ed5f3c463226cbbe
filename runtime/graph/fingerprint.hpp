// Short names for data, to refuse what was made for other data.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/label_bits.hpp"
#include "runtime/graph/rows.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

// The sum of XXH3 (64 bit) of each row of A^T, its columns and its weights if there are any, so that ranks can each
// hash some; rows are those of `vertices`. And the fingerprint of a graph that has this sum: 16 hexadecimal digits.
std::uint64_t hash_of_rows(const Csr& sources, const RowVertices& vertices = {});
std::string graph_fingerprint(std::int64_t vertices, std::uint64_t sum);
std::string fingerprint(const Graph& graph);

// A hash of the edges of a share of a file, as its reader lists them: it adds up, over all edges of all shares, to a
// number that is another one where a share has other edges.
std::uint64_t hash_of_listed(std::span<const Edge> edges, int reader);
// The same for a row of features that a rank has read.
std::uint64_t hash_of_row_listed(std::int64_t vertex, int reader);
// The text of such a sum.
std::string listing_fingerprint(std::uint64_t sum);

// Adds up to 0 over all rows of A^T where each edge comes with its reverse, of the same weight if asked, and to
// anything else where one does not, but for one chance in 2^64.
std::uint64_t imbalance_of_rows(const Csr& sources, const RowVertices& vertices, bool with_weights = true);

// Fingerprints of the labels, and of the subsets that the vertices are in.
std::string fingerprint(const std::vector<std::int32_t>& labels);
std::string fingerprint(const LabelBits& labels);
std::string fingerprint(const std::vector<std::uint8_t>& subset);

// The hash of row v of the features as the file has them, and the text of a sum of these over all rows. It is a sum so
// that each rank can read a part.
std::uint64_t row_hash(std::int64_t v, std::span<const float> row);
std::string feature_fingerprint(std::uint64_t sum);

}  // namespace gnnplan::data
