// Each vertex of a cut is owned by one part.
#pragma once

#include "runtime/graph/stream_cut.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// One of the parts that have a replica of the vertex, where one of them has room: part p owns exactly as many vertices
// as balanced_block({0, vertices}, p, parts). Vertices of few replicas choose first, and take the part with the most
// room; those whose parts are full, and those without edges, fill what is left.
std::vector<std::int32_t> choose_owners(const Neighbours& graph, const EdgeParts& part, int parts);

}  // namespace gnnplan::data
