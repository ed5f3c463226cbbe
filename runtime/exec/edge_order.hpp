// Where a rank's nonzeros of a matrix are among those of its transpose, as others send their values.
#pragma once

#include "kernels/device.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/exec/memory_tracker.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::exec {

// Says where the nonzeros of a matrix `to` lie in the matrix `from` that it is the transpose of. Both have one piece from
// each rank of an x-group. The piece of stage k of `to` has the nonzeros that its root has of this rank's columns of
// `from`, in the order of the root's block: source panel after panel, row after row. Throws Error{usage} for pieces of
// 2^31 nonzeros or more.
class EdgeOrder {
public:
    EdgeOrder(const Grid& grid, const Tensor& from, const Tensor& to, int rank, const data::Graph& graph,
              const data::DegreeScales& scales, const data::NumberedCounts& counts, kernels::Device& device,
              MemoryTracker& tracker);

    // Says for each nonzero of the stage which of the root's it is; lies on the device.
    const std::int32_t* stage(std::size_t k) const { return reinterpret_cast<const std::int32_t*>(stages_[k]->data()); }

private:
    std::vector<std::unique_ptr<kernels::DeviceMemory>> stages_;
    Charge charge_;
};

}  // namespace gnnplan::exec
