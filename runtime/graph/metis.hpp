// The one place that knows METIS.
#pragma once

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// An undirected pattern without self loops: the neighbours of i are vertex[start[i]] .. vertex[start[i + 1] - 1].
struct Neighbours {
    std::vector<std::int32_t> start;
    std::vector<std::int32_t> vertex;
};

// The part of each vertex by METIS_PartGraphKway with METIS's default balance; some parts may be empty. For graphs with
// edges and with more vertices than parts. METIS takes the arrays as mutable, and leaves them as they are. Throws
// Error{unavailable} in a build without METIS, and when METIS fails.
std::vector<std::int32_t> metis_parts(Neighbours& graph, int parts);

}  // namespace gnnplan::data
