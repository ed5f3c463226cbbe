#pragma once

#include <gnnplan/ir/layout.hpp>

#include <algorithm>

namespace gnnplan {

// In how many tiles the ranks of a y-group multiply their rows in a ring GEMM: at least as many as a pipeline wants
// (eight, as of pieces in splits_for_overlap), and as many as DEAL's where that is more.
constexpr int ring_tiles(const Grid& grid) {
    constexpr int pipeline = 8;
    return std::max(grid.y, pipeline);
}

}  // namespace gnnplan
