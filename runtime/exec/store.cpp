// Reading guide: the memory plan counts the model's state as part of the arena, but the state outlives the arena. It
// has memory of its own, so offsets behind it move down by its size; the two together take exactly the planned bytes.
#include "runtime/exec/store.hpp"

namespace gnnplan::exec {

Store::Store(const Schedule& schedule, const GraphStats& graph, int rank, MemoryTracker& tracker)
    : schedule_(schedule),
      rank_(rank),
      tracker_(tracker),
      plan_(plan_memory(schedule, graph, rank)),
      alias_(schedule.tensors.size()),
      parts_(schedule.tensors.size()),
      scales_(schedule.tensors.size()) {
    for (const Step& step : schedule.steps) {
        send_staging_.push_back(staging_of(schedule, step, graph, rank).send_bytes);
        const auto* spmm = std::get_if<SpmmStep>(&step.operation);
        buffers_.push_back(spmm != nullptr ? spmm_buffers(schedule, *spmm, graph, rank) : SpmmBuffers{});
    }
}

void Store::build_blocks(const data::Graph& graph, const data::DegreeScales& scales, const data::GraphCounts& counts) {
    std::vector<bool> needed_rows(schedule_.tensors.size(), false);
    for (const Step& step : schedule_.steps) {
        const auto* index = std::get_if<IndexStep>(&step.operation);
        if (index != nullptr) needed_rows[static_cast<std::size_t>(index->matrix)] = true;
    }
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        const Tensor& tensor = schedule_.tensors[id];
        if (tensor.role != Role::adjacency) continue;
        if (!tensor.structure) {
            parts_[id].emplace(schedule_.grid, tensor, rank_, needed_rows[id], graph, scales, counts, tracker_);
        }
        if (tensor.factored) {
            scales_[id].emplace(schedule_.grid, tensor, rank_, part(static_cast<TensorId>(id)), scales, counts.order(),
                                tracker_);
        }
    }
}

void Store::allocate(const ModelState& state) {
    arena_ = Arena(plan_.arena_bytes - ModelState::bytes_of(schedule_), tracker_);
    data_.clear();
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        const Tensor& tensor = schedule_.tensors[id];
        const std::int64_t offset = plan_.tensor_offset[id];
        data_.push_back(is_model_state(tensor.role) ? reinterpret_cast<std::byte*>(state.values(tensor).data())
                        : offset < 0                ? nullptr
                                                    : placed(offset));
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
    const Block local = block(id);
    return {reinterpret_cast<float*>(bytes(id)), local.rows.size(), local.columns.size(), local.columns.size()};
}

}  // namespace gnnplan::exec
