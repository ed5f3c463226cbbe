// R-MAT graphs with as many nonzeros as the largest data sets in seconds: all cores draw and sort. The project's own
// generator (runtime/generate) has one thread and takes minutes for them.
#pragma once

#include "kernels/views.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::bench {

// Undirected, with a self loop on every vertex and without duplicates, normalised symmetrically: entry (i, j) is 1 /
// sqrt(degree i * degree j). Columns ascend within a row.
struct RmatBlock {
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> column;
    std::vector<float> value;

    kernels::Csr view() const;
};

// Draws so many edges with the quadrant probabilities 0.57, 0.19, 0.19, 0.05 and numbers the vertices at random. The
// result is the same for every number of threads.
RmatBlock rmat_block(std::int64_t vertices, std::int64_t edges);

}  // namespace gnnplan::bench
