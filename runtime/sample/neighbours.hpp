// Draws each layer's sample of a vertex's in-neighbours in an inference (DEAL, section 3.2).
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/rows.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::sample {

// `matrix` is the forward matrix A^T, or has some of its rows, which are those of `vertices`. Returns the same rows for
// each layer, with fanout[l - 1] >= 1 distinct in-neighbours of every vertex, drawn uniformly, or with all of them
// where it has no more. A self loop stays, and is none of them. A draw depends on the seed, the layer, the vertex and
// its in-neighbours in the order of their numbers, so that every rank draws the same, however vertices are renumbered
// and whatever other layers draw.
//
// With `weighted` each edge has a weight: its own, times degree / fanout where some were left out, so that weighted
// sums have the expectation that they have over all edges (Horvitz and Thompson 1952). Loops keep theirs.
std::vector<data::Csr> draw_neighbours(const data::Csr& matrix, const std::vector<std::int64_t>& fanout,
                                       std::uint64_t seed, bool weighted, const data::RowVertices& vertices = {});

}  // namespace gnnplan::sample
