#include <gnnplan/ir/loading.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace gnnplan {
namespace {

bool backward_in(const Schedule& schedule) {
    return std::any_of(schedule.tensors.begin(), schedule.tensors.end(),
                       [](const Tensor& t) { return t.role == Role::adjacency && !t.transposed; });
}

// The axes over which all adjacencies split their rows: ranks that differ in others keep the same ones.
std::vector<Axis> row_axes(const Schedule& schedule) {
    std::vector<Axis> axes;
    for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
        const bool split = std::all_of(schedule.tensors.begin(), schedule.tensors.end(), [axis](const Tensor& t) {
            return t.role != Role::adjacency || t.layout.rows.contains(axis);
        });
        if (split && schedule.grid.extent(axis) > 1) axes.push_back(axis);
    }
    return axes;
}

}  // namespace

std::int64_t listed_edges(const Listing& listing, const GraphRecord& graph) {
    if (listing.edges > 0) return listing.edges;
    const std::int64_t loops = graph.self_loops ? std::min(graph.vertices, graph.nonzeros) : 0;
    return (graph.nonzeros - loops) / (graph.symmetrised ? 2 : 1);
}

LoadingNeeds::LoadingNeeds(const Schedule& schedule, Normalisation normalisation, bool symmetrise, bool symmetric)
    : backward(backward_in(schedule)),
      targets(symmetrise || (!symmetric && (backward || normalisation == Normalisation::symmetric))) {}

RowShare row_share_of(const Schedule& schedule, int rank) {
    const Grid& grid = schedule.grid;
    const std::vector<Axis> axes = row_axes(schedule);
    std::vector<int> group{rank};
    for (const Axis axis : {Axis::x, Axis::z, Axis::y}) {
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
        std::vector<int> along;
        for (const int each : group) {
            for (int at = 0; at < grid.extent(axis); ++at) along.push_back(grid.neighbour(each, axis, at));
        }
        group = std::move(along);
    }
    std::sort(group.begin(), group.end());
    RowShare share{adjacency_rows(schedule, rank), {}, std::move(group)};
    const auto place = std::find(share.group.begin(), share.group.end(), rank) - share.group.begin();
    share.made = balanced_block(share.kept, place, std::ssize(share.group));
    return share;
}

std::vector<MatrixId> kept_matrices(const LoadingNeeds& needs, const GraphStats& graph) {
    std::vector<MatrixId> matrices;
    if (graph.samples() == 0) matrices.emplace_back(true);
    for (int layer = 1; layer <= graph.samples(); ++layer) matrices.emplace_back(true, layer);
    if (graph.samples() == 0 && needs.backward && !graph.symmetric()) matrices.emplace_back(false);
    return matrices;
}

std::int64_t shared_row_bytes(const LoadingNeeds& needs, const GraphStats& graph, Range made) {
    std::int64_t bytes = 0;
    for (const MatrixId matrix : kept_matrices(needs, graph)) {
        const bool weighted = matrix.sample > 0 ? graph.samples_weighted() : graph.weighted();
        bytes += 8 * made.size() + (weighted ? 8 : 4) * graph.row_nonzeros(matrix, made);
    }
    return bytes;
}

std::int64_t edges_dealt_in_round(int ranks) {
    constexpr std::int64_t together = std::int64_t{1} << 16, least = 8192;
    return std::max(least, (together + ranks - 1) / ranks);
}

std::int64_t rows_dealt_in_round(int ranks, std::int64_t columns) {
    constexpr std::int64_t together = std::int64_t{1} << 23, least = 64;
    return std::max(least, together / (4 * std::max<std::int64_t>(1, columns) * ranks));
}

}  // namespace gnnplan
