#include "planner/ir/dealt_blocks.hpp"

#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan {

bool relay_saves(const Grid& grid, int ranks_per_node) {
    return grid.x > 1 && grid.stride(Axis::x) < ranks_per_node && ranks_per_node < grid.size();
}

const SpmmStep* relaying(const Operation& operation) {
    const SpmmStep* product = product_of(operation);
    return product != nullptr && product->exchange == Exchange::relay ? product : nullptr;
}

bool by_nodes(const Operation& operation) {
    const SpmmStep* product = product_of(operation);
    return product != nullptr && relays(product->exchange);
}

PanelRelay::PanelRelay(const Schedule& schedule, const SpmmStep& product)
    : schedule_(schedule),
      matrix_(tensor_of(schedule, product.matrix)),
      sharded_(gathers_matrix(schedule.grid, matrix_)),
      under_way_(product.overlap ? static_cast<std::size_t>(matrix_.storage.pieces_ahead()) : 1),
      overlap_(product.overlap) {}

// Where nonzeros are sharded all ranks of a slice have the same pieces, and each begins with another one. Otherwise the
// number is not asked for.
std::size_t PanelRelay::pieces(int rank) const {
    return sharded_ ? static_cast<std::size_t>(piece_count(schedule_.grid, matrix_, rank)) : 0;
}

// Otherwise the next rank begins with the next block.
std::size_t PanelRelay::behind(int rank, int next, std::size_t pieces) const {
    if (!sharded_) return static_cast<std::size_t>(matrix_.storage.splits);
    if (pieces == 0) return 0;
    const Grid& grid = schedule_.grid;
    return (first_piece(grid, pieces, next) + pieces - first_piece(grid, pieces, rank)) % pieces;
}

// A rank's own block, with which it begins, is one piece where it is whole.
std::optional<PanelRelay::Passing> PanelRelay::to(int rank) const {
    const Grid& grid = schedule_.grid;
    const int next_x = grid.coordinate(rank, Axis::x) + 1;
    if (next_x == grid.x) return std::nullopt;
    const int next = grid.neighbour(rank, Axis::x, next_x);
    if (!on_one_node(rank, next)) return std::nullopt;
    const std::size_t stages = behind(rank, next, pieces(rank));
    if (stages < under_way_) return std::nullopt;
    const bool own_is_whole = !sharded_ && !block_distributed(matrix_);
    return Passing{next, stages, stages + (own_is_whole ? 1 : 0)};
}

std::optional<PanelRelay::Passed> PanelRelay::from(int rank) const {
    const Grid& grid = schedule_.grid;
    const int ix = grid.coordinate(rank, Axis::x);
    if (ix == 0) return std::nullopt;
    const int before = grid.neighbour(rank, Axis::x, ix - 1);
    const std::optional<Passing> how = to(before);
    return how ? std::optional(Passed{before, *how}) : std::nullopt;
}

// A piece that is received at a stage lies there until it has been sent on, `behind` stages later, and as many more
// pieces are on their way by then. With overlap one more is multiplied, for which there is room in any case.
int PanelRelay::kept(int rank) const {
    const Grid& grid = schedule_.grid;
    if (grid.stride(Axis::x) >= schedule_.ranks_per_node) return 0;
    const std::size_t count = pieces(rank);
    std::size_t most = 0;
    for (int ix = 0; ix + 1 < grid.x; ++ix) {
        most = std::max(most, behind(grid.neighbour(rank, Axis::x, ix), grid.neighbour(rank, Axis::x, ix + 1), count));
        if (!sharded_) break;
    }
    return most < under_way_ ? 0 : static_cast<int>(most) - (overlap_ ? 1 : 0);
}

}  // namespace gnnplan
