// The products of the forward pass that are kept for the backward pass, or from epoch to epoch.
#pragma once

#include <gnnplan/ir/config.hpp>

#include <vector>

namespace gnnplan {

// T = A^T H^(layer - 1).
struct KeptProduct {
    int layer = 1;
    bool across_epochs = false;  // made once, before the first epoch
    bool operator==(const KeptProduct&) const = default;
};

// In the order of their layers.
std::vector<KeptProduct> products_kept(const Configuration& configuration);

}  // namespace gnnplan
