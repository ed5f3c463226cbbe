// A short name for the structure of a graph, to refuse plans that were made for another.
#pragma once

#include "runtime/data/csr.hpp"

#include <string>

namespace gnnplan::data {

// XXH3 (64 bit) of the number of vertices, the row starts and the columns, as 16 hexadecimal digits.
std::string fingerprint(const Graph& graph);

}  // namespace gnnplan::data
