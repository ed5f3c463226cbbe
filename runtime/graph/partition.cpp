// Reading guide: metis_parts (metis.cpp) cuts the undirected pattern into parts of about equal size, Balancer moves
// vertices until the sizes are exact.
#include "runtime/graph/partition.hpp"

#include "runtime/graph/metis.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <tuple>

namespace gnnplan::data {
namespace {

// Moves vertices out of parts that are too large into parts that are too small, those first that lose the fewest edges
// inside their part.
class Balancer {
public:
    Balancer(const Neighbours& graph, int parts, std::vector<std::int32_t>& part)
        : graph_(graph), part_(part), surplus_(at(parts), 0), links_(at(parts), 0) {
        const Range all = {0, static_cast<std::int64_t>(part.size())};
        for (std::size_t p = 0; p < surplus_.size(); ++p) {
            surplus_[p] = -balanced_block(all, static_cast<std::int64_t>(p), parts).size();
        }
        for (const std::int32_t p : part) ++surplus_[at(p)];
    }

    // The first move of a round is always made, so there is an end.
    void run() {
        while (std::any_of(surplus_.begin(), surplus_.end(), [](std::int64_t s) { return s > 0; })) {
            for (const Move& move : moves()) {
                std::int32_t& part = part_[at(move.vertex)];
                if (surplus_[at(part)] <= 0 || surplus_[at(move.to)] >= 0) continue;
                --surplus_[at(part)];
                ++surplus_[at(move.to)];
                part = move.to;
            }
        }
    }

private:
    struct Move {
        std::int32_t lost;  // edges inside the old part, less those into the new one
        std::int32_t vertex;
        std::int32_t to;
    };

    // One for each vertex of a part that is too large.
    std::vector<Move> moves() {
        const auto small = std::find_if(surplus_.begin(), surplus_.end(), [](std::int64_t s) { return s < 0; });
        const auto any_small = static_cast<std::int32_t>(small - surplus_.begin());
        std::vector<Move> moves;
        for (std::int32_t v = 0; v < static_cast<std::int32_t>(part_.size()); ++v) {
            if (surplus_[at(part_[at(v)])] > 0) moves.push_back(best_move(v, any_small));
        }
        std::sort(moves.begin(), moves.end(),
                  [](const Move& a, const Move& b) { return std::tie(a.lost, a.vertex) < std::tie(b.lost, b.vertex); });
        return moves;
    }

    Move best_move(std::int32_t v, std::int32_t any_small) {
        const auto first = graph_.vertex.begin() + graph_.start[at(v)];
        const auto last = graph_.vertex.begin() + graph_.start[at(v) + 1];
        std::for_each(first, last, [&](std::int32_t u) { ++links_[at(part_[at(u)])]; });
        std::int32_t to = any_small;
        std::for_each(first, last, [&](std::int32_t u) {
            const std::int32_t q = part_[at(u)];
            const bool better = links_[at(q)] > links_[at(to)] || (links_[at(q)] == links_[at(to)] && q < to);
            if (surplus_[at(q)] < 0 && better) to = q;
        });
        const Move move = {links_[at(part_[at(v)])] - links_[at(to)], v, to};
        std::for_each(first, last, [&](std::int32_t u) { links_[at(part_[at(u)])] = 0; });
        return move;
    }

    const Neighbours& graph_;
    std::vector<std::int32_t>& part_;
    std::vector<std::int64_t> surplus_;  // of each part: vertices above its size
    std::vector<std::int32_t> links_;    // of one vertex into each part; 0 between uses
};

}  // namespace

std::vector<std::int32_t> partition(Neighbours& pattern, int parts) {
    ensure(parts >= 2, "a partition into two parts or more");
    std::vector<std::int32_t> part(at(pattern.vertices()), 0);
    if (has_partitioner() && !metis_cuts(pattern, parts)) {
        for (std::size_t v = 0; v < part.size(); ++v) part[v] = static_cast<std::int32_t>(v % at(parts));
        return part;
    }
    part = metis_parts(pattern, parts);
    Balancer(pattern, parts, part).run();
    return part;
}

std::vector<std::int32_t> partition(const Graph& graph, int parts) {
    Neighbours pattern = neighbours_of(graph);
    return partition(pattern, parts);
}

}  // namespace gnnplan::data
