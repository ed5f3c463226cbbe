// Schedules that hold adjacencies alone, which is all that loading looks at.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <vector>

namespace gnnplan::load::testing {

inline std::vector<Grid> grids() {
    return {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {4, 1, 1}, {2, 2, 1}, {3, 2, 1}, {2, 1, 2}, {8, 1, 1}, {2, 2, 2}};
}

inline Tensor adjacency(const std::string& name, std::int64_t vertices, bool transposed, int sample) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = Role::adjacency;
    tensor.rows = tensor.columns = vertices;
    tensor.layout = {Axes::parse("x"), Axes::parse("z"), {}};
    tensor.transposed = transposed;
    tensor.space = tensor.column_space = 0;
    tensor.sample = sample;
    return tensor;
}

// A schedule of an inference, whose first `samples` layers draw, or of training, which multiplies by A, too.
inline Schedule schedule(std::int64_t vertices, const Grid& grid, bool backward = false, int samples = 0,
                         const Numbering& numbering = {}) {
    Schedule made;
    made.grid = grid;
    made.numbering = numbering;
    made.loading = Loading::sharded;
    made.spaces.push_back({"vertices", vertices, 0});
    if (samples == 0) made.tensors.push_back(adjacency("at", vertices, true, 0));
    for (int layer = 1; layer <= samples; ++layer)
        made.tensors.push_back(adjacency("at." + std::to_string(layer), vertices, true, layer));
    if (backward) made.tensors.push_back(adjacency("a", vertices, false, 0));
    return made;
}

}  // namespace gnnplan::load::testing
