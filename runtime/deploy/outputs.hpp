// The outputs of a network for every vertex: the rows of its layers' outputs, and the vertices that they belong to.
#pragma once

#include "runtime/exec/executor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnplan::deploy {

// The last layer's output in an evaluation. Throws Error{data} when the schedule has none.
const Tensor& outputs_of(const Schedule& schedule);

// Where a schedule that applies a model has the outputs of a layer: in `tensor`, when `step` is done. No later step
// reads anything else that was computed up to there.
struct LayerEnd {
    std::size_t step = 0;
    TensorId tensor{};
};
// One end for each layer 1 .. L; the last is the schedule's output. Throws Error{unavailable} where a layer hands on
// several tensors.
std::vector<LayerEnd> layer_ends(const Schedule& schedule);

// A run writes some of its outputs, and keeps the vertices of their rows for that.
enum class Written : std::uint8_t { nothing, outputs, layers };

// The user's vertices of this rank's rows of what is written, from when the order of vertices is known to when the
// outputs are.
class OutputRows {
public:
    // Bytes that a rank keeps; none where vertices are in the order of the file.
    static std::int64_t bytes_of(const Schedule& schedule, int rank, Written written);

    OutputRows() = default;
    OutputRows(const Schedule& schedule, const exec::NumberedCounts& counts, int rank, Written written,
               exec::MemoryTracker& tracker);

    // The vertex of a row of one of the rank's blocks.
    std::int64_t vertex(std::int64_t row) const {
        return vertices_.empty() ? row : vertices_[static_cast<std::size_t>(row - first_)];
    }

private:
    std::int64_t first_ = 0;
    std::vector<std::int32_t> vertices_;
    exec::Charge charge_;
};

}  // namespace gnnplan::deploy
