#include "planner/cost/batches.hpp"

#include "planner/cost/rates.hpp"

namespace gnnplan::cost {
namespace {

// As shares of cutting a nonzero for a block: drawing a vertex; finding its rows; looking at a nonzero of the graph,
// and finding out whether its column is in the batch.
constexpr double draw_share = 14, vertex_share = 23, look_share = 0.15;
// Cache lines from anywhere in memory, a second.
constexpr double row_bytes_per_second = 3e9;

}  // namespace

double batch_seconds(const Batches& batches, const Grid& grid, std::int64_t features, const GraphStats& graph,
                     const Machine& machine) {
    const BatchMeans mean = graph.batch_means();
    const double of_group = static_cast<double>(batches.per_update) / grid.x;
    const bool pool = batches.sampling.has_pool();
    const double matrices = multiplies_symmetric(graph.symmetric(), batches) ? 1 : 2;
    const double row_bytes = pool ? 4 * static_cast<double>(features) / grid.y : 0;  // all vertices stay where they are
    const double found_share = pool ? vertex_share : 0;  // all rows are looked at one after the other otherwise
    const auto drawn = static_cast<double>(drawn_vertices(batches.sampling, graph.vertices()));
    const double nonzeros =
        draw_share * drawn + found_share * mean.vertices + look_share * mean.looked_at + matrices * mean.nonzeros;
    return of_group * (loading_cost(machine).cut_seconds_per_nonzero * nonzeros +
                       mean.vertices * row_bytes / row_bytes_per_second);
}

}  // namespace gnnplan::cost
