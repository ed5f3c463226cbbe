// Layers that draw some of the neighbours.
#pragma once

#include <cstdint>
#include <vector>

namespace gnnplan::search {

// Throws Error{usage} where training is to draw: only an inference does. `fanout` is empty where all neighbours are
// read.
void check_draws(bool trains, const std::vector<std::int64_t>& fanout);

}  // namespace gnnplan::search
