// Peers and messages, as descriptions of steps put them together.
#pragma once

#include <gnnplan/ir/layout.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <vector>

namespace gnnplan {

// Adds the ranks that differ from `rank` in their coordinate of `axis` alone.
inline void add_peers_along(const Grid& grid, Axis axis, int rank, std::vector<int>& peers) {
    for (int i = 0; i < grid.extent(axis); ++i) {
        const int peer = grid.neighbour(rank, axis, i);
        if (peer != rank) peers.push_back(peer);
    }
}

inline std::vector<int> peers_along(const Grid& grid, Axis axis, int rank) {
    std::vector<int> peers;
    add_peers_along(grid, axis, rank, peers);
    return peers;
}

// The neighbours of position `own` in a ring of `extent`; rank_at turns positions into ranks.
template <class RankAt>
std::vector<int> ring_peers(int own, int extent, RankAt rank_at) {
    std::vector<int> peers;
    if (extent > 1) peers.push_back(rank_at((own + 1) % extent));
    if (extent > 2) peers.push_back(rank_at((own + extent - 1) % extent));
    return peers;
}

// `count` messages of `bytes` in all; no message is empty.
inline Message messages(int from, int to, std::int64_t bytes, std::int64_t count) {
    return bytes > 0 ? Message{from, to, bytes, count} : Message{from, to, 0, 0};
}
inline Message one_message(int from, int to, std::int64_t bytes) { return messages(from, to, bytes, 1); }

}  // namespace gnnplan
