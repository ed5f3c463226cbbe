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
      panels_(schedule.tensors.size()) {}

void Store::build_blocks(const data::Graph& graph, const data::DegreeScales& scales) {
    const Grid& grid = schedule_.grid;
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        const Tensor& tensor = schedule_.tensors[id];
        if (tensor.role != Role::adjacency) continue;
        const Range rows = block(static_cast<TensorId>(id)).rows;
        for (int ix = 0; ix < grid.x; ++ix) {
            const int owner = grid.rank_at(ix, grid.coordinate(rank_, Axis::y), grid.coordinate(rank_, Axis::z));
            const Range columns = split_block(tensor.columns, layout_c().rows, grid, owner);
            panels_[id].push_back(data::build_block(graph, tensor.transposed, rows, columns, scales));
            panel_charges_.emplace_back(tracker_, panels_[id].back().bytes());
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

std::span<const data::LocalBlock> Store::panels(TensorId matrix) const {
    return panels_[static_cast<std::size_t>(matrix)];
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
