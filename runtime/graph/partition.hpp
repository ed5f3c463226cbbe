// Parts of equal size with few edges between them.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/neighbours.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// Whether this build has a partitioner (METIS).
bool has_partitioner();

// The part of each vertex, 0 .. parts - 1, parts >= 2. Part p has the size of balanced_block({0, vertices}, p, parts).
// Edges count whatever their direction; self loops do not. METIS's k-way partitioning (Karypis & Kumar 1998), whose
// parts differ by some percent, then greedy moves to the exact sizes. The same arguments give the same parts on every
// rank that runs the same METIS and C library. Throws Error{unavailable} in a build without METIS, and for graphs
// beyond its 32-bit indices.
std::vector<std::int32_t> partition(const Graph& graph, int parts);

// The same of a pattern that is there already.
std::vector<std::int32_t> partition(Neighbours& pattern, int parts);

}  // namespace gnnplan::data
