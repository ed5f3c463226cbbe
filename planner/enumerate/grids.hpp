// Rule: process grids. Every scheme is a family of grids and of layouts of A and H (docs/cost-model.md, "Schemes").
#pragma once

#include <gnnplan/ir/config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::enumerate {

// What may be asked of a grid; unset: anything.
struct GridChoice {
    std::optional<std::string> scheme;
    std::optional<int> replication;  // R_A of rdm, c of 1.5d
    std::optional<Grid> grid;
};

// Every distribution over `ranks` ranks that fits the choice, each once. Every scheme contains 1D, 3D contains 2D
// and 1.5D, and so on: a grid on which a scheme is another one is that one's, unless the grid or the replication is
// asked for, or the ranks form no other. Throws Error{usage} when there is none, naming what exists.
std::vector<Distribution> distributions(int ranks, const GridChoice& choice);

}  // namespace gnnplan::enumerate
