// Reading guide: a rank's buffers are the residents, one after the other, then the transients and the staging buffers
// of steps, packed so that two share space only when their lifetimes do not overlap: largest first, each at the lowest
// offset that is free during its whole lifetime (greedy by size; Pisarchyk & Lee 2020).
#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/memory.hpp>

#include <algorithm>
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

bool contiguous(const Block& part, const Block& whole) {
    return part.columns == whole.columns || part.rows.size() <= 1;
}

Staging staging_of_redistribution(const Schedule& schedule, const RedistributeStep& step, int rank) {
    Staging staging;
    const DType dtype = tensor_of(schedule, step.in).dtype;
    const Block source = block_of(schedule, step.in, rank);
    const Block target = block_of(schedule, step.out, rank);
    const int first = rank / schedule.grid.y * schedule.grid.y;
    for (int peer = first; peer < first + schedule.grid.y; ++peer) {
        if (peer == rank) continue;
        const Block sent = intersect(source, block_of(schedule, step.out, peer));
        const Block received = intersect(target, block_of(schedule, step.in, peer));
        if (dtype == DType::bits || !contiguous(sent, source)) staging.send_bytes += bytes_of(dtype, sent.count());
        if (dtype == DType::bits || !contiguous(received, target)) {
            staging.receive_bytes += bytes_of(dtype, received.count());
        }
    }
    return staging;
}

Staging staging_of_panels(const Schedule& schedule, const SpmmStep& step, int rank) {
    Staging staging;
    const Grid& grid = schedule.grid;
    if (step.exchange == Exchange::none) return staging;
    for (int ix = 0; ix < grid.x; ++ix) {
        const int root = grid.rank_at(ix, grid.coordinate(rank, Axis::y), grid.coordinate(rank, Axis::z));
        if (root != rank) staging.receive_bytes = std::max(staging.receive_bytes, block_bytes(schedule, step.in, root));
    }
    return staging;
}

}  // namespace

Staging staging_of(const Schedule& schedule, const Step& step, int rank) {
    return std::visit(Overloaded{
                          [&](const RedistributeStep& s) { return staging_of_redistribution(schedule, s, rank); },
                          [&](const SpmmStep& s) { return staging_of_panels(schedule, s, rank); },
                          [](const auto&) { return Staging{}; },
                      },
                      step.operation);
}

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
        if (tensor.role == Role::adjacency) {
            plan.adjacency_bytes += adjacency_block_bytes(schedule, tensor, graph, rank);
        } else if (is_resident(tensor.role)) {
            plan.tensor_offset[id] = residents;
            residents += aligned(block_bytes(schedule, static_cast<TensorId>(id), rank));
        }
    }
    plan.arena_bytes = pack(transient_buffers(schedule, rank, plan), residents);
    plan.load_bytes = load_bytes(graph);
    plan.peak_bytes = plan.adjacency_bytes + std::max(plan.load_bytes, plan.arena_bytes);
    return plan;
}

std::int64_t peak_bytes_per_rank(const Schedule& schedule, const GraphStats& graph) {
    std::int64_t peak = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        peak = std::max(peak, plan_memory(schedule, graph, rank).peak_bytes);
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
