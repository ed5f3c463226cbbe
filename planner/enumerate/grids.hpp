// Rule: process grids. Every scheme is a family of grids and of layouts of A and H (docs/cost-model.md, "Schemes").
#pragma once

#include <gnnplan/ir/layout.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::enumerate {

struct SchemeGrid {
    std::string scheme;  // rdm, 1d, 1.5d, 2d or 3d
    Grid grid;
    bool operator==(const SchemeGrid&) const = default;
};

// What may be asked of a grid; unset: anything.
struct GridChoice {
    std::optional<std::string> scheme;
    std::optional<int> replication;  // R_A of rdm, c of 1.5d
    std::optional<Grid> grid;
};

// Every scheme on every grid of `ranks` ranks that fits the choice, each once. Every scheme contains 1D, 3D contains 2D
// and 1.5D, and so on: a grid on which a scheme is another one is that one's, unless the grid or the replication is
// asked for, or the ranks form no other. Throws Error{usage} when there is none, naming what exists.
std::vector<SchemeGrid> scheme_grids(int ranks, const GridChoice& choice);

}  // namespace gnnplan::enumerate
