// What a trained network makes of every vertex: the rows of the last layer's outputs, and whose they are.
#pragma once

#include "runtime/exec/executor.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::train {

// What the last layer makes in an evaluation. Throws Error{data} when the schedule has none.
const Tensor& outputs_of(const Schedule& schedule);
// The rows of it that a rank has.
Range output_rows(const Schedule& schedule, int rank);

// The user's vertices of this rank's rows of the last layer's outputs, from when the order of vertices is known to when
// the outputs are.
class OutputRows {
public:
    // Bytes that a rank keeps; none where vertices are in the order of the file.
    static std::int64_t bytes_of(const Schedule& schedule, int rank);

    OutputRows() = default;
    OutputRows(const Schedule& schedule, const exec::GraphCounts& counts, int rank, exec::MemoryTracker& tracker);

    // The vertex of the index-th row of this rank, whose first row is `first`.
    std::int64_t vertex(std::int64_t index, std::int64_t first) const {
        return vertices_.empty() ? first + index : vertices_[static_cast<std::size_t>(index)];
    }

private:
    std::vector<std::int32_t> vertices_;
    exec::Charge charge_;
};

}  // namespace gnnplan::train
