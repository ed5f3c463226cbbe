// Where a rank's nonzeros of a matrix are among those that others send values of.
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

// Says where the nonzeros of a matrix `to` lie in a matrix `from`.
//
// Where `to` is the transpose, the pieces that this rank has of one root's columns of `to` have the nonzeros that the root
// has of this rank's columns of `from`, where they come in the order of the root's pieces: piece after piece, in each
// source panel after panel, row after row. Where `from` is the same matrix with its rows dealt over the ranks of a y-group,
// the nonzeros of `from` are those of the group, one rank after the other; then neither is split. Throws Error{usage} for
// 2^31 nonzeros or more of one root or group.
class EdgeOrder {
public:
    EdgeOrder(const Grid& grid, const Tensor& from, const Tensor& to, int rank, const data::Graph& graph,
              const data::DegreeScales& scales, const data::NumberedCounts& counts, kernels::Device& device,
              MemoryTracker& tracker);

    // Says for each nonzero of the stage which of those it is that the root has for this rank, or the group; lies on the
    // device.
    const std::int32_t* stage(std::size_t k) const { return reinterpret_cast<const std::int32_t*>(stages_[k]->data()); }

    // How many nonzeros the rank of the y-group at `y` has of `from`, where rows are dealt.
    std::int64_t edges_of(int y) const { return dealt_[static_cast<std::size_t>(y)]; }

private:
    std::vector<std::int64_t> dealt_;
    std::vector<std::unique_ptr<kernels::DeviceMemory>> stages_;
    Charge charge_;
};

}  // namespace gnnplan::exec
