// Layers that draw some of the neighbours.
#pragma once

#include <gnnplan/ir/sampling.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace gnnplan::search {

// Only an inference draws neighbours layer by layer. Throws Error{usage} where training is to; `fanout` is empty where
// all neighbours are read.
void check_draws(bool trains, const std::vector<std::int64_t>& fanout);

// A training whose updates draw as many neighbours of each vertex, the same ones for all layers. Throws Error{usage}
// where numbers of layers differ, and where updates are of `batches` already.
Batches drawn_updates(const std::vector<std::int64_t>& fanout, const std::optional<Batches>& batches);

}  // namespace gnnplan::search
