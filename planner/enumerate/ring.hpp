// Rule: where dense products may exchange tiles of rows instead of moving whole matrices (RingGemmStep; DEAL, section
// 3.4). The columns have to be split, and nobody but the product may want its operand or its result in whole rows, as a
// backward pass does for weight gradients. The orders of a pass decide which products these are (lower/rules.hpp).
#pragma once

#include <gnnplan/ir/config.hpp>

#include <optional>
#include <vector>

namespace gnnplan::enumerate {

// The values of Configuration::ring on a grid; none where it is asked for and cannot be.
std::vector<bool> ring_choices(bool trains, const Distribution& on, std::optional<bool> pinned);

}  // namespace gnnplan::enumerate
