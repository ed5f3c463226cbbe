// Rule: process grids. Every scheme is a family of grids and of layouts of A and H (docs/cost-model.md, "Schemes").
#pragma once

#include <gnnplan/ir/config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::enumerate {

// Conditions on a grid; unset: none.
struct GridChoice {
    std::optional<std::string> scheme;
    std::optional<int> replication;  // R_A of rdm, c of 1.5d
    std::optional<Grid> grid;
    bool cuts = false;  // whether distributions by a vertex cut are among them where no scheme is named
};

// Lists every distribution over `ranks` ranks that fits the choice, each once. Schemes overlap: on some grids 3D is 2D
// or 1.5D, and all of them are 1D on one column. Such a grid is listed under the simplest scheme, unless the choice
// names the grid or the replication, or the ranks form no other grid. Throws Error{usage} that names what exists when
// nothing fits.
std::vector<Distribution> distributions(int ranks, const GridChoice& choice);

// The distributions of RDM's paper that fit the choice, whatever its scheme: one for each R_A that divides the ranks, 1
// included, and none that splits z. There may be none.
std::vector<Distribution> paper_distributions(int ranks, const GridChoice& choice);

}  // namespace gnnplan::enumerate
