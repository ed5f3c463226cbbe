// Short names for data, to refuse what was made for other data.
#pragma once

#include "runtime/graph/csr.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

// XXH3 (64 bit) of the number of vertices, the row starts, the columns and the weights if there are any, as 16
// hexadecimal digits.
std::string fingerprint(const Graph& graph);

// Fingerprints of the labels, and of the subsets that the vertices are in.
std::string fingerprint(const std::vector<std::int32_t>& labels);
std::string fingerprint(const std::vector<std::uint8_t>& subset);

// The hash of row v of the features as the file has them, and the text of a sum of these over all rows. It is a sum so
// that each rank can read a part.
std::uint64_t row_hash(std::int64_t v, std::span<const float> row);
std::string feature_fingerprint(std::uint64_t sum);

}  // namespace gnnplan::data
