// The passes over all sites of a model.
#pragma once

#include "planner/lower/builder.hpp"

#include <map>

namespace gnnplan::lower {

// Lowers setup, and returns the aggregated features that it keeps, by product, where the configuration caches them.
std::map<int, TensorId> lower_setup(Builder& builder);

// One forward pass and, in training, the backward pass, before which segments are made again (segments.hpp).
void lower_passes(Builder& builder, bool training, std::map<int, TensorId> kept);

}  // namespace gnnplan::lower
