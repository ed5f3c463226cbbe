// Reading guide: the memory plan counts the model's state as part of the arena, but the state outlives the arena. It
// has memory of its own, so offsets behind it move down by its size; the two together take exactly the planned bytes.
#include "runtime/exec/store.hpp"

#include <gnnplan/ir/shared_clones.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace gnnplan::exec {
namespace {

std::vector<std::size_t> adjacencies(const Schedule& schedule) {
    std::vector<std::size_t> found;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].role == Role::adjacency) found.push_back(id);
    }
    return found;
}

bool exchanges_indices(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const Step& step) { return std::holds_alternative<RowRequestStep>(step.operation); });
}

bool reorders_edges(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return reordered_edges(schedule, step.operation).has_value(); });
}

// The properties of each adjacency on which blocks depend; the one that has the nonzeros by its place among them.
auto cuts_of(const Schedule& schedule) {
    const std::vector<std::size_t> ids = adjacencies(schedule);
    const auto stored_at = [&](const Tensor& t) {
        return t.structure ? std::find(ids.begin(), ids.end(), static_cast<std::size_t>(*t.structure)) - ids.begin()
                           : -1;
    };
    using Cut = std::tuple<std::int64_t, std::int64_t, Layout, MatrixId, Storage, std::ptrdiff_t>;
    std::vector<Cut> cuts;
    cuts.reserve(ids.size());
    for (const std::size_t id : ids) {
        const Tensor& t = schedule.tensors[id];
        cuts.emplace_back(t.rows, t.columns, t.layout, t.matrix(), t.storage, stored_at(t));
    }
    return cuts;
}

// An adjacency is cut out of these.
struct CutFrom {
    const data::Graph& graph;
    const data::DegreeScales& scales;
    const data::NumberedCounts& counts;
};

}  // namespace

bool same_blocks(const Schedule& a, const Schedule& b) {
    return a.grid == b.grid && a.numbering == b.numbering && !a.numbering.batches && !exchanges_indices(a) &&
           !exchanges_indices(b) && !reorders_edges(a) && !reorders_edges(b) && !shares_clones(a) &&
           !shares_clones(b) && cuts_of(a) == cuts_of(b);
}

Store::Store(const Schedule& schedule, const GraphStats& graph, int rank, kernels::Device& device,
             MemoryTracker& tracker)
    : schedule_(schedule),
      rank_(rank),
      device_(device),
      tracker_(tracker),
      plan_(plan_memory(schedule, graph, rank)),
      alias_(schedule.tensors.size()),
      parts_(schedule.tensors.size()),
      scales_(schedule.tensors.size()) {
    ensure(schedule.blocking.row_start_bytes >= device.memory().row_start_bytes,
           "a device reads row starts as a schedule has them");
    send_staging_.resize(schedule.steps.size());
    buffers_.resize(schedule.steps.size());
    elements_.resize(schedule.tensors.size());
    for (std::size_t step = 0; step < schedule.steps.size(); ++step) measure_step(step, graph);
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) measure_tensor(id, graph);
}

void Store::measure_step(std::size_t step, const GraphStats& graph) {
    const Step& measured = schedule_.steps[step];
    send_staging_[step] = staging_of(schedule_, measured, graph, rank_).send_bytes;
    const SpmmStep* spmm = product_of(measured.operation);
    buffers_[step] = spmm != nullptr ? spmm_buffers(schedule_, *spmm, graph, rank_) : SpmmBuffers{};
}

void Store::measure_tensor(std::size_t id, const GraphStats& graph) {
    if (schedule_.tensors[id].role == Role::adjacency) return;
    elements_[id] = elements_of(schedule_, static_cast<TensorId>(id), graph, rank_);
}

// Those that are not known, of matrices for which source() is not null.
template <class Source>
void Store::order_edges(const Source& source) {
    for (const Step& step : schedule_.steps) {
        const auto pair = reordered_edges(schedule_, step.operation);
        if (!pair || edge_orders_.contains(*pair)) continue;
        const Tensor& from = tensor_of(schedule_, pair->first);
        const CutFrom* const of = source(from);
        if (of == nullptr) continue;
        edge_orders_.try_emplace(*pair, schedule_.grid, from, tensor_of(schedule_, pair->second), rank_, of->graph,
                                 of->scales, of->counts, device_, tracker_);
    }
}

void Store::take_groups(const data::NumberedCounts& counts, const CloneScales& scales_of_clones) {
    const CutFrom groups{counts.clones()->graph, scales_of_clones.scales, counts.of_groups()};
    for (std::size_t step = 0; step < schedule_.steps.size(); ++step) {
        if (schedule_.steps[step].phase == Phase::epoch) measure_step(step, counts);
    }
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        if (of_groups(schedule_, schedule_.tensors[id].space)) measure_tensor(id, counts);
    }
    std::erase_if(edge_orders_, [&](const auto& entry) { return tensor_of(schedule_, entry.first.first).in_groups(); });
    order_edges([&](const Tensor& matrix) { return matrix.in_groups() ? &groups : nullptr; });
    for (const std::size_t id : adjacencies(schedule_)) {
        const Tensor& matrix = schedule_.tensors[id];
        if (!matrix.in_groups()) continue;
        parts_[id].reset(), scales_[id].reset();
    }
    for (const std::size_t id : adjacencies(schedule_)) {
        const Tensor& matrix = schedule_.tensors[id];
        if (!matrix.in_groups()) continue;
        if (!matrix.structure) {
            parts_[id].emplace(schedule_, matrix, rank_, nullptr, groups.graph, groups.scales, groups.counts, device_,
                               tracker_);
        }
        if (matrix.storage.factored) {
            scales_[id].emplace(matrix, rank_, part(static_cast<TensorId>(id)), groups.scales,
                                data::cutting_order(groups.graph, groups.counts), device_, tracker_);
        }
    }
}

void Store::build_blocks(const data::Graph& graph, const data::DegreeScales& scales, const data::NumberedCounts& counts,
                         const CloneScales& scales_of_clones) {
    std::vector<const RowRequestStep*> requests(schedule_.tensors.size(), nullptr);
    for (const Step& step : schedule_.steps) {
        if (const auto matrix = requested_rows(step.operation))
            requests[static_cast<std::size_t>(*matrix)] = &std::get<RowRequestStep>(step.operation);
    }
    const CutFrom whole{graph, scales, counts};
    const CutFrom groups = counts.clones() != nullptr
                               ? CutFrom{counts.clones()->graph, scales_of_clones.scales, counts.of_groups()}
                               : whole;
    const auto source = [&](const Tensor& matrix) -> const CutFrom& { return matrix.in_groups() ? groups : whole; };
    // Orders come first: what is needed to find them is gone before there are any blocks.
    order_edges([&](const Tensor& matrix) { return &source(matrix); });
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        const Tensor& tensor = schedule_.tensors[id];
        if (tensor.role != Role::adjacency) continue;
        const CutFrom& of = source(tensor);
        if (!tensor.structure) {
            parts_[id].emplace(schedule_, tensor, rank_, requests[id], of.graph, of.scales, of.counts, device_,
                               tracker_);
        }
        if (tensor.storage.factored) {
            scales_[id].emplace(tensor, rank_, part(static_cast<TensorId>(id)), of.scales,
                                data::cutting_order(of.graph, of.counts), device_, tracker_);
        }
    }
    if (shares_clones(schedule_))
        clone_rows_.emplace(schedule_, rank_, *counts.clones(), scales_of_clones, device_, tracker_);
}

SparseBlocks Store::release_blocks() {
    SparseBlocks blocks;
    for (const std::size_t id : adjacencies(schedule_)) {
        blocks.parts.push_back(std::move(parts_[id]));
        blocks.scales.push_back(std::move(scales_[id]));
    }
    return blocks;
}

void Store::adopt_blocks(SparseBlocks blocks) {
    const std::vector<std::size_t> ids = adjacencies(schedule_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (blocks.parts[i]) parts_[ids[i]].emplace(std::move(*blocks.parts[i]));
        if (blocks.scales[i]) scales_[ids[i]].emplace(std::move(*blocks.scales[i]));
    }
}

void Store::allocate(const ModelState& state) {
    arena_ = Arena(device_, plan_.arena_bytes - ModelState::bytes_of(schedule_), tracker_);
    data_.clear();
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        const Tensor& tensor = schedule_.tensors[id];
        const std::int64_t offset = plan_.tensor_offset[id];
        data_.push_back(is_model_state(tensor.role) ? state.place(tensor) : offset < 0 ? nullptr : placed(offset));
    }
    staging_.clear();
    for (const std::int64_t offset : plan_.staging_offset) staging_.push_back(placed(offset));
}

std::byte* Store::placed(std::int64_t offset) const {
    std::int64_t state = 0;
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        if (is_model_state(schedule_.tensors[id].role) && plan_.tensor_offset[id] < offset) {
            state += aligned(block_bytes(schedule_, static_cast<TensorId>(id), rank_));
        }
    }
    return arena_.at(offset - state);
}

kernels::Matrix Store::matrix(TensorId id) const {
    const std::int64_t columns = block(id).columns.size();
    const bool summands = tensor_of(schedule_, id).role == Role::summands;
    const std::int64_t rows =
        summands ? part(*tensor_of(schedule_, id).structure).stored_rows().size() : block(id).rows.size();
    return {reinterpret_cast<float*>(bytes(id)), rows, columns, columns};
}

std::vector<kernels::Matrix> Store::matrices(const std::vector<TensorId>& ids) const {
    std::vector<kernels::Matrix> found;
    found.reserve(ids.size());
    for (const TensorId id : ids) found.push_back(matrix(id));
    return found;
}

}  // namespace gnnplan::exec
