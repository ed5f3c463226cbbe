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
// Where `to` is the transpose: this rank's pieces of one root's columns of `to` hold the same nonzeros as the root's
// pieces of this rank's columns of `from`. The root sends them in the order of its pieces: piece after piece, within
// each source panel after panel, row after row. Where `from` is the same matrix with its rows dealt over the ranks of a
// y-group, the nonzeros of `from` are those of the group, one rank after the other; then neither is split. Throws
// Error{usage} for 2^31 nonzeros or more of one root or group.
class EdgeOrder {
public:
    EdgeOrder(const Grid& grid, const Tensor& from, const Tensor& to, int rank, const data::Graph& graph,
              const data::DegreeScales& scales, const data::NumberedCounts& counts, kernels::Device& device,
              MemoryTracker& tracker);

    // For each nonzero of stage k, its index among the nonzeros that the root, or the group, has for this rank; on the
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
