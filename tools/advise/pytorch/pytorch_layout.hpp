// Layouts and exchanges of a plan in the words of torch.distributed.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// "init_device_mesh("cuda", (2, 4), mesh_dim_names=("x", "y"))": axes of one rank are left out.
std::string device_mesh(const Grid& grid);

// "[Shard(0), Replicate()]", an entry for each dimension of the mesh. An adjacency dealt or sharded over an axis has
// "[Shard(0), columns over z]", as torch has no word for that.
std::string placements(const Layout& layout, const Grid& grid);

struct Line {
    std::string name;  // of a matrix, or a step
    std::string text;
};

// Where every matrix that outlives a step lies, and what passes between layers.
std::vector<Line> placed_matrices(const Plan& plan);

// Every step of the epoch that moves bytes, with the collective that does it and the bytes of the busiest rank.
std::vector<Line> collectives(const Plan& plan);

// "torchrun --nproc-per-node 8 train.py", with the nodes that the plan's machine needs for its ranks.
std::string launch_line(const Plan& plan);

}  // namespace gnnplan::tools
