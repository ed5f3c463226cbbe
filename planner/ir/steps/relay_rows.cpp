#include "planner/ir/steps/relay_rows.hpp"

#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/slice.hpp"
#include "planner/ir/steps/pieces_between.hpp"

#include <algorithm>

namespace gnnplan {

RelayRows::RelayRows(const Schedule& schedule, const SpmmStep& product)
    : schedule_(schedule),
      matrix_(tensor_of(schedule, product.matrix)),
      relay_(schedule, product),
      whole_(!gathers_matrix(schedule.grid, matrix_) && !block_distributed(matrix_)) {}

// A rank's own block of the dense operand, as it is sent: cut.
SentRows RelayRows::block_of(int rank) const {
    const std::int64_t rows = dense_rows(schedule_.grid, matrix_, rank).size();
    return {rows, std::min<std::int64_t>(rows, matrix_.storage.splits)};
}

// The blocks of the others of its x-group: blocks have the sizes of the first one and of the last.
SentRows RelayRows::slice_without(int rank) const {
    const Grid& grid = schedule_.grid;
    const std::int64_t longer = matrix_.columns % grid.x;
    const SentRows first = block_of(grid.neighbour(rank, Axis::x, 0));
    const SentRows last = block_of(grid.neighbour(rank, Axis::x, grid.x - 1));
    const SentRows own = block_of(rank);
    return {longer * first.rows + (grid.x - longer) * last.rows - own.rows,
            longer * first.messages + (grid.x - longer) * last.messages - own.messages};
}

// Whether the piece of a stage comes straight from the rank that holds its rows.
bool RelayRows::straight(int to, std::size_t stage) const {
    const std::optional<PanelRelay::Passing> passing = relay_.to(to);
    return !passing || stage < passing->first;
}

// The pieces that are passed on to a rank.
SentRows RelayRows::passed_to(int rank, const PanelRelay::Passing& how) const {
    if (whole_) return slice_without(rank);
    SentRows passed;
    const std::vector<Piece> pieces = pieces_of(schedule_.grid, matrix_, rank);
    for (std::size_t k = how.first; k < pieces.size(); ++k) {
        if (pieces[k].dense_root != rank) passed.add(pieces[k].columns.size());
    }
    return passed;
}

// Returns the rows that come straight from the ranks that hold them.
std::vector<PeerRows> RelayRows::straight_to(int rank) const {
    const std::optional<PanelRelay::Passing> passing = relay_.to(rank);
    std::vector<PeerRows> peers;
    if (whole_) {
        if (passing) return peers;
        for (const int root : dense_roots(schedule_.grid, matrix_, rank)) {
            if (root != rank) peers.push_back({root, block_of(root)});
        }
        return peers;
    }
    const std::vector<Piece> pieces = pieces_of(schedule_.grid, matrix_, rank);
    for (std::size_t k = 0; k < pieces.size() && (!passing || k < passing->first); ++k) {
        if (pieces[k].dense_root == rank) continue;
        if (peers.empty() || peers.back().peer != pieces[k].dense_root) peers.push_back({pieces[k].dense_root, {}});
        peers.back().sent.add(pieces[k].columns.size());
    }
    return peers;
}

std::vector<PeerRows> RelayRows::received(int rank) const {
    std::vector<PeerRows> peers = straight_to(rank);
    if (const std::optional<PanelRelay::Passing> passing = relay_.to(rank))
        peers.push_back({passing->from, passed_to(rank, *passing)});
    return peers;
}

SentRows RelayRows::between(int from, int to) const {
    if (whole_) {
        const std::optional<PanelRelay::Passing> passing = relay_.to(to);
        if (!passing) return block_of(from);
        return passing->from == from ? slice_without(to) : SentRows{};
    }
    SentRows all;
    for (const PeerRows& peer : received(to)) {
        if (peer.peer == from) all.add(peer.sent);
    }
    return all;
}

std::vector<PeerRows> RelayRows::sent(int rank) const {
    std::vector<PeerRows> peers;
    if (const std::optional<PanelRelay::Passed> passed = relay_.from(rank))
        peers.push_back({passed->to, passed_to(passed->to, passed->how)});
    add_straight(rank, peers);
    return peers;
}

// The ranks that get pieces of the rank's own block from it because nobody passes them on.
void RelayRows::add_straight(int rank, std::vector<PeerRows>& peers) const {
    const Grid& grid = schedule_.grid;
    const SentRows own = block_of(rank);
    for (const int peer : dense_peers(grid, matrix_, rank)) {
        if (whole_) {
            if (heads(peer)) peers.push_back({peer, own});
        } else if (block_distributed(matrix_)) {
            const auto before =
                turned(grid.coordinate(rank, Axis::x) - grid.coordinate(peer, Axis::x), hand_of(grid, peer).size());
            if (straight(peer, static_cast<std::size_t>(before * matrix_.storage.splits))) peers.push_back({peer, own});
        } else {
            for (const PeerRows& of_peer : straight_to(peer)) {
                if (of_peer.peer == rank) peers.push_back({peer, of_peer.sent});
            }
        }
    }
}

std::pair<std::int64_t, std::int64_t> RelayRows::totals(int rank) {
    std::int64_t sent = 0, received = 0;
    if (!whole_) {
        for (const PeerRows& peer : this->sent(rank)) sent += peer.sent.rows;
        for (const PeerRows& peer : this->received(rank)) received += peer.sent.rows;
        return {sent, received};
    }
    const Grid& grid = schedule_.grid;
    const auto [group, is_new] =
        heads_of_group_.try_emplace({grid.coordinate(rank, Axis::y), grid.coordinate(rank, Axis::z)}, 0);
    for (int ix = 0; is_new && ix < grid.x; ++ix) group->second += heads(grid.neighbour(rank, Axis::x, ix)) ? 1 : 0;
    const std::optional<PanelRelay::Passed> passed = relay_.from(rank);
    sent = block_of(rank).rows * (group->second - (heads(rank) ? 1 : 0));
    if (passed) sent += slice_without(passed->to).rows;
    return {sent, slice_without(rank).rows};
}

void add_relay_neighbours(const Schedule& schedule, const SpmmStep& product, int rank, std::vector<int>& peers) {
    const PanelRelay relay(schedule, product);
    const auto add = [&](int peer) {
        if (std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
    };
    if (const auto passing = relay.to(rank)) add(passing->from);
    if (const auto passed = relay.from(rank)) add(passed->to);
}

}  // namespace gnnplan
