// Graphs in which each vertex has drawn some of its in-neighbours, anew for each update of a training (GNN-RDM,
// section III-F; shared by all layers, as in DropEdge, Rong et al. 2020).
#pragma once

#include "runtime/graph/csr.hpp"

#include <cstdint>

namespace gnnplan::sample {

// The graph of update `number`, with `fanout` in-neighbours of each vertex, as draw_neighbours() draws and weighs
// them. A function of its arguments alone, so that every rank draws the same. It is directed, and has both matrices.
data::Graph masked_graph(const data::Graph& graph, std::int64_t fanout, std::uint64_t seed, std::int64_t number);
// The nonzeros of its matrices, which are as many in every update.
std::int64_t masked_nonzeros(const data::Graph& graph, std::int64_t fanout);

}  // namespace gnnplan::sample
