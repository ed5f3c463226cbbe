// Reading guide: a rank's buffers are the residents, one after the other, then the transients and the staging buffers
// of steps, packed so that two share space only when their lifetimes do not overlap: largest first, each at the lowest
// offset that is free during its whole lifetime (greedy by size; Pisarchyk & Lee 2020).
#include <gnnplan/ir/memory.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace gnnplan {
namespace {

// A buffer to place: bytes, alive from step position `first` to `last`, and where its offset goes.
struct Buffer {
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::int64_t* offset = nullptr;

    bool overlaps(const Buffer& other) const { return first <= other.last && other.first <= last; }
};

// Steps in the order in which time passes: setup, epoch, evaluation.
std::vector<std::size_t> timeline(const Schedule& schedule) {
    std::vector<std::size_t> order(schedule.steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return schedule.steps[a].phase < schedule.steps[b].phase; });
    return order;
}

std::vector<Buffer> transient_buffers(const Schedule& schedule, int rank, MemoryPlan& plan) {
    std::vector<Buffer> tensors(schedule.tensors.size());
    std::vector<Buffer> staging;
    const auto order = timeline(schedule);
    for (std::size_t position = 0; position < order.size(); ++position) {
        const std::size_t step = order[position];
        const Operands operands = operands_of(schedule.steps[step].operation);
        for (const auto* ids : {&operands.reads, &operands.writes}) {
            for (const TensorId id : *ids) {
                Buffer& buffer = tensors[static_cast<std::size_t>(id)];
                if (buffer.offset == nullptr) {
                    buffer = {block_bytes(schedule, id, rank), position, position,
                              &plan.tensor_offset[static_cast<std::size_t>(id)]};
                }
                buffer.last = position;
            }
        }
        if (plan.staging_bytes[step] > 0) {
            staging.push_back({plan.staging_bytes[step], position, position, &plan.staging_offset[step]});
        }
    }
    for (std::size_t id = 0; id < tensors.size(); ++id) {
        const bool placed = !is_resident(schedule.tensors[id].role) && tensors[id].offset != nullptr;
        if (placed) staging.push_back(tensors[id]);
    }
    return staging;
}

// Places `buffers` from `base` on and returns the end of the last one.
std::int64_t pack(std::vector<Buffer> buffers, std::int64_t base) {
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
    std::int64_t end = base;
    std::vector<Buffer> placed;  // by offset
    for (const Buffer& buffer : buffers) {
        const std::int64_t bytes = aligned(buffer.bytes);
        std::int64_t offset = base;
        for (const Buffer& other : placed) {
            if (!buffer.overlaps(other)) continue;
            if (offset + bytes <= *other.offset) break;
            offset = std::max(offset, *other.offset + aligned(other.bytes));
        }
        *buffer.offset = offset;
        end = std::max(end, offset + bytes);
        const auto after = std::upper_bound(placed.begin(), placed.end(), offset,
                                            [](std::int64_t o, const Buffer& other) { return o < *other.offset; });
        placed.insert(after, buffer);
    }
    return end;
}

// Ranks with blocks of the same sizes have the same arena: what they exchange follows from the sizes in their groups.
std::vector<std::int64_t> arena_signature(const Schedule& schedule, int rank) {
    std::vector<std::int64_t> sizes;
    sizes.reserve(2 * schedule.tensors.size());
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Block block = block_of(schedule, static_cast<TensorId>(id), rank);
        sizes.push_back(block.rows.size());
        sizes.push_back(block.columns.size());
    }
    return sizes;
}

std::int64_t local_adjacency_bytes(const Schedule& schedule, const GraphStats& graph, int rank) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (tensor.role == Role::adjacency) bytes += adjacency_block_bytes(schedule, tensor, graph, rank);
    }
    return bytes;
}

}  // namespace

std::int64_t adjacency_block_bytes(const Schedule& schedule, const Tensor& matrix, const GraphStats& graph, int rank) {
    const Range rows = block_of(matrix.rows, matrix.columns, matrix.layout, schedule.grid, rank).rows;
    const std::int64_t panels = schedule.grid.x;
    return panels * 8 * (rows.size() + 1) + 8 * graph.row_nonzeros(matrix.transposed, rows);
}

std::int64_t load_bytes(const GraphStats& graph) {
    const std::int64_t directions = graph.symmetric() ? 1 : 2;
    return directions * (8 * (graph.vertices() + 1) + 4 * graph.nonzeros()) + 16 * graph.vertices();
}

MemoryPlan plan_memory(const Schedule& schedule, const GraphStats& graph, int rank) {
    MemoryPlan plan;
    plan.tensor_offset.assign(schedule.tensors.size(), -1);
    plan.staging_offset.assign(schedule.steps.size(), 0);
    plan.staging_bytes.assign(schedule.steps.size(), 0);
    for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
        const Staging staging = staging_of(schedule, schedule.steps[step], rank);
        plan.staging_bytes[step] = staging.send_bytes + staging.receive_bytes;
    }
    std::int64_t residents = 0;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        if (tensor.role != Role::adjacency && is_resident(tensor.role)) {
            plan.tensor_offset[id] = residents;
            residents += aligned(block_bytes(schedule, static_cast<TensorId>(id), rank));
        }
    }
    plan.arena_bytes = pack(transient_buffers(schedule, rank, plan), residents);
    plan.adjacency_bytes = local_adjacency_bytes(schedule, graph, rank);
    plan.load_bytes = load_bytes(graph);
    plan.peak_bytes = plan.adjacency_bytes + std::max(plan.load_bytes, plan.arena_bytes);
    return plan;
}

std::int64_t peak_bytes_per_rank(const Schedule& schedule, const GraphStats& graph) {
    std::map<std::vector<std::int64_t>, std::int64_t> arenas;
    const std::int64_t loading = load_bytes(graph);
    std::int64_t peak = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        const auto [arena, is_new] = arenas.try_emplace(arena_signature(schedule, rank), 0);
        if (is_new) arena->second = plan_memory(schedule, graph, rank).arena_bytes;
        peak = std::max(peak, local_adjacency_bytes(schedule, graph, rank) + std::max(loading, arena->second));
    }
    return peak;
}

std::vector<TensorSize> largest_tensors(const Schedule& schedule, const GraphStats& graph, int rank, int count) {
    std::vector<TensorSize> sizes;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        sizes.push_back({tensor.name, tensor.role == Role::adjacency
                                          ? adjacency_block_bytes(schedule, tensor, graph, rank)
                                          : block_bytes(schedule, static_cast<TensorId>(id), rank)});
    }
    std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    sizes.resize(std::min(sizes.size(), static_cast<std::size_t>(count)));
    return sizes;
}

}  // namespace gnnplan
