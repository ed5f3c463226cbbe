// Memory that a rank needs while it loads a graph, numbers its vertices and cuts its blocks.
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// Clones, how each counts, and the graphs of groups, which have these; where clones get sums of each other's, also who
// owns each and when its turn is, and how many groups share. Of batches, a rank holds those of all groups before the
// first update, and then the edges of its own group in this update and in the next one.
std::int64_t clone_bytes(const GraphStats& graph, const Numbering& numbering) {
    const std::optional<int>& delay = numbering.delay;
    const std::vector<std::int64_t> first = graph.groups();
    ensure(!first.empty(), "statistics answer in the schedule's numbering");
    const std::int64_t clones = first.back();
    const std::int64_t nonzeros = graph.row_nonzeros(groups_of(forward_matrix), {0, clones});
    const std::int64_t groups = std::ssize(first) - 1;
    const std::int64_t shared = delay ? 8 * clones + 8 * groups * groups * bins_of(delay) : 0;
    const std::int64_t nonzero_bytes = graph.weighted() || numbering.weighs_batches() ? 8 : 4;
    const bool directed = !multiplies_symmetric(graph.symmetric(), numbering.batches);
    const auto bytes_with = [&](std::int64_t edges) {
        return 8 * clones + (directed ? 2 : 1) * (8 * (clones + 1) + nonzero_bytes * edges);
    };
    const std::int64_t all = bytes_with(nonzeros);
    const std::int64_t held = numbering.batches ? std::max(all, 2 * bytes_with(nonzeros / groups)) : all;
    return graph.pool_bytes() + shared + held;
}

}  // namespace

std::int64_t load_bytes(const GraphStats& graph) {
    const std::int64_t directions = graph.symmetric() ? 1 : 2;
    const std::int64_t nonzero_bytes = graph.weighted() ? 8 : 4;
    const std::int64_t row_starts = 8 * (graph.vertices() + 1);
    std::int64_t drawn = 0;
    for (int layer = 1; layer <= graph.samples(); ++layer) {
        const std::int64_t nonzeros = graph.row_nonzeros(MatrixId(true, layer), {0, graph.vertices()});
        drawn += row_starts + (graph.samples_weighted() ? 8 : 4) * nonzeros;
    }
    return directions * (row_starts + nonzero_bytes * graph.nonzeros()) + drawn +
           16 * (graph.vertices() + (graph.groups().empty() ? 0 : graph.groups().back()));
}

std::int64_t load_bytes(const Schedule& schedule, const GraphStats& graph, int rank) {
    if (schedule.loading == Loading::whole) return load_bytes(graph);
    const bool backward = std::any_of(schedule.tensors.begin(), schedule.tensors.end(), [](const Tensor& tensor) {
        return tensor.role == Role::adjacency && !tensor.transposed;
    });
    const Range rows = adjacency_rows(schedule, rank);
    const auto of_nonzeros = [&](MatrixId id, bool weighted) {
        return 8 * (rows.size() + 1) + (weighted ? 8 : 4) * graph.row_nonzeros(id, rows);
    };
    const auto met_elsewhere = [&](bool transposed) {
        return graph.columns_met(transposed, rows, {0, rows.begin}) +
               graph.columns_met(transposed, rows, {rows.end, graph.vertices()});
    };
    std::int64_t bytes = 0;
    if (graph.samples() == 0) bytes += of_nonzeros(forward_matrix, graph.weighted());
    for (int layer = 1; layer <= graph.samples(); ++layer)
        bytes += of_nonzeros(MatrixId(true, layer), graph.samples_weighted());
    const bool both = backward && !graph.symmetric();
    if (both) bytes += of_nonzeros(backward_matrix, graph.weighted());
    bytes += 16 * rows.size() + 8 * (met_elsewhere(true) + (backward ? met_elsewhere(graph.symmetric()) : 0));
    const std::int64_t sets = both ? 2 : 1;
    return bytes + 12 * sets * ((graph.vertices() + 63) / 64);
}

std::int64_t order_bytes(const GraphStats& graph, const Numbering& numbering) {
    if (numbering.identity()) return 0;
    if (numbering.has_clones()) return clone_bytes(graph, numbering);
    const std::int64_t both_ways = 8 * graph.vertices();
    if (numbering.cut == CutRule::none) return both_ways;
    // The owner of each vertex, and the part of each nonzero.
    const std::int64_t directions = graph.symmetric() ? 1 : 2;
    return both_ways + 4 * graph.vertices() + 2 * directions * graph.nonzeros();
}

std::int64_t output_vertex_bytes(const Schedule& schedule, int rank) {
    if (!schedule.output || schedule.numbering.identity()) return 0;
    return 4 * block_of(schedule, *schedule.output, rank).rows.size();
}

}  // namespace gnnplan
