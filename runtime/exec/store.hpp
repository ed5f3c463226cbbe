// Everything one rank holds for one schedule: sparse parts, an arena for dense tensors and staging, and the model's
// state, which it borrows. Offsets are those of the memory plan, so that what is allocated is what was predicted.
#pragma once

#include "kernels/views.hpp"
#include "runtime/exec/arena.hpp"
#include "runtime/exec/clone_rows.hpp"
#include "runtime/exec/edge_order.hpp"
#include "runtime/exec/model_state.hpp"
#include "runtime/exec/sparse.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::exec {

// The sparse part of a store, by adjacency in the order of its schedule's tensors. The schedule outlives it.
struct SparseBlocks {
    std::vector<std::optional<SparsePart>> parts;    // of adjacencies that store nonzeros
    std::vector<std::optional<ValueScales>> scales;  // of factored adjacencies
};

// Whether both schedules cut the same sparse blocks out of the graph. False where they exchange indices, which belong
// to the exchange, and where they reorder edges, whose orders belong to the step.
bool same_blocks(const Schedule& a, const Schedule& b);

class Store {
public:
    // `schedule` and `device` outlive the store. Allocates nothing yet.
    Store(const Schedule& schedule, const GraphStats& graph, int rank, kernels::Device& device, MemoryTracker& tracker);

    // Cuts this rank's sparse blocks out of the graph, and out of those of groups, which have scales of their own where
    // vertices have clones, and finds its clones that share sums. `counts` is numbered as the schedule says.
    void build_blocks(const data::Graph& graph, const data::DegreeScales& scales, const data::NumberedCounts& counts,
                      const CloneScales& scales_of_clones = {});
    // After the schedule's groups have got other rows, those of other clones, no more than before: cuts their blocks
    // anew, and measures their tensors and the steps of epochs again.
    void take_groups(const data::NumberedCounts& counts, const CloneScales& scales_of_clones);
    // Hands the blocks over; the store is of no use then. Another one whose schedule has the same_blocks() takes them
    // in place of build_blocks().
    SparseBlocks release_blocks();
    void adopt_blocks(SparseBlocks blocks);
    // Allocates the dense tensors. `state` outlives the store.
    void allocate(const ModelState& state);

    const Schedule& schedule() const { return schedule_; }
    const MemoryPlan& plan() const { return plan_; }
    int rank() const { return rank_; }

    Block block(TensorId id) const { return block_of(schedule_, id, rank_); }
    // The nonzeros of an adjacency, which its transpose may store, and its scales where values are factored.
    const SparsePart& part(TensorId matrix) const { return *parts_[stored(matrix)]; }
    const ValueScales* scales(TensorId matrix) const {
        const auto& scales = scales_[static_cast<std::size_t>(matrix)];
        return scales ? &*scales : nullptr;
    }
    // Clones that get sums of each other's; null where there are none.
    const CloneRows* clone_rows() const { return clone_rows_ ? &*clone_rows_ : nullptr; }
    // Says where `from` has each edge of `to` (EdgeTransposeStep, EdgeGatherStep).
    const EdgeOrder& edge_order(TensorId from, TensorId to) const { return edge_orders_.at({from, to}); }
    // Collective: see SparsePart.
    void exchange_indices(TensorId matrix, comm::Communicator& world) {
        parts_[static_cast<std::size_t>(matrix)]->exchange_indices(world, device_, tracker_);
    }
    void exchange_targets(TensorId matrix, comm::Communicator& world) {
        parts_[static_cast<std::size_t>(matrix)]->exchange_targets(world, device_, tracker_);
    }

    // A tensor's local block on the device: row-major, rows without gaps.
    std::byte* bytes(TensorId id) const {
        return data_[static_cast<std::size_t>(alias_[static_cast<std::size_t>(id)].value_or(id))];
    }
    template <class T>
    T* data(TensorId id) const {
        return reinterpret_cast<T*>(bytes(id));
    }
    template <class T>
    std::span<T> values(TensorId id) const {
        return {data<T>(id), static_cast<std::size_t>(elements_[static_cast<std::size_t>(id)])};
    }
    kernels::Matrix matrix(TensorId id) const;
    std::vector<kernels::Matrix> matrices(const std::vector<TensorId>& ids) const;
    // The send buffer of a step, followed by its receive buffer (staging_of).
    std::byte* staging(std::size_t step) const { return staging_[step]; }
    std::int64_t send_staging_bytes(std::size_t step) const { return send_staging_[step]; }
    // Returns how the staging of a product's step is divided.
    const SpmmBuffers& buffers(std::size_t step) const { return buffers_[step]; }

    // From now on `id` is the same memory as `target`, which is no alias itself, or its own again.
    void alias(TensorId id, std::optional<TensorId> target) { alias_[static_cast<std::size_t>(id)] = target; }

private:
    void measure_step(std::size_t step, const GraphStats& graph);
    void measure_tensor(std::size_t id, const GraphStats& graph);
    template <class Source>
    void order_edges(const Source& source);
    std::size_t stored(TensorId matrix) const {
        return static_cast<std::size_t>(tensor_of(schedule_, matrix).structure.value_or(matrix));
    }
    std::byte* placed(std::int64_t offset) const;

    const Schedule& schedule_;
    int rank_;
    kernels::Device& device_;
    MemoryTracker& tracker_;
    MemoryPlan plan_;
    std::vector<std::byte*> data_;                    // per tensor; null for sparse ones
    std::vector<std::byte*> staging_;                 // per step
    std::vector<std::optional<TensorId>> alias_;      // per tensor
    std::vector<std::optional<SparsePart>> parts_;    // per tensor; of adjacencies that store nonzeros
    std::vector<std::optional<ValueScales>> scales_;  // per tensor; of factored adjacencies
    std::vector<std::int64_t> send_staging_;          // per step; bytes
    std::vector<SpmmBuffers> buffers_;                // per step; of products
    std::vector<std::int64_t> elements_;              // per tensor; 0 of sparse ones
    std::map<std::pair<TensorId, TensorId>, EdgeOrder> edge_orders_;
    std::optional<CloneRows> clone_rows_;
    Arena arena_;
};

}  // namespace gnnplan::exec
