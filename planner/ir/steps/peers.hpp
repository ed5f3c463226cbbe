// Peers and messages, as descriptions of steps put them together.
#pragma once

#include <gnnplan/ir/layout.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gnnplan {

// Adds the ranks that differ from `rank` in their coordinate of `axis` alone.
inline void add_peers_along(const Grid& grid, Axis axis, int rank, std::vector<int>& peers) {
    const int extent = grid.extent(axis);
    if (extent == 1) return;
    const int first = grid.neighbour(rank, axis, 0);
    const int stride = grid.neighbour(rank, axis, 1) - first;
    peers.reserve(peers.size() + static_cast<std::size_t>(extent) - 1);
    for (int i = 0; i < extent; ++i) {
        const int peer = first + i * stride;
        if (peer != rank) peers.push_back(peer);
    }
}

inline std::vector<int> peers_along(const Grid& grid, Axis axis, int rank) {
    std::vector<int> peers;
    add_peers_along(grid, axis, rank, peers);
    return peers;
}

// Peers of a rank along an axis that have blocks of the same sizes.
struct AlikePeers {
    int example = 0;
    std::int64_t count = 0;
};

// Those of `rank` where each of `wholes` is split over the axis into balanced blocks.
inline std::vector<AlikePeers> alike_peers_along(const Grid& grid, Axis axis, int rank,
                                                 std::vector<std::int64_t> wholes) {
    const int extent = grid.extent(axis);
    const int own = grid.coordinate(rank, axis);
    for (std::int64_t& whole : wholes) whole %= extent;  // up to there blocks are longer by one
    wholes.push_back(extent);
    std::sort(wholes.begin(), wholes.end());
    std::vector<AlikePeers> alike;
    std::int64_t begin = 0;
    for (const std::int64_t end : wholes) {
        const bool among = begin <= own && own < end;
        const std::int64_t count = end - begin - (among ? 1 : 0);
        const auto example = static_cast<int>(begin + (begin == own ? 1 : 0));
        if (count > 0) alike.push_back({grid.neighbour(rank, axis, example), count});
        begin = end;
    }
    return alike;
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
