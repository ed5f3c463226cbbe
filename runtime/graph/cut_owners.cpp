#include "runtime/graph/cut_owners.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::data {

std::vector<std::int32_t> choose_owners(const Neighbours& graph, const EdgeParts& part, int parts) {
    const std::int64_t n = graph.vertices();
    const Replicas replicas = replicas_of(graph, part, parts);
    std::vector<std::int32_t> order(at(n));
    std::iota(order.begin(), order.end(), 0);
    std::vector<int> count(at(n));
    for (std::int64_t v = 0; v < n; ++v) count[at(v)] = replicas.count(v);
    std::ranges::stable_sort(order, {}, [&](std::int32_t v) { return count[at(v)]; });

    std::vector<std::int64_t> room(at(parts));
    for (int p = 0; p < parts; ++p) room[at(p)] = balanced_block({0, n}, p, parts).size();
    constexpr std::int32_t nobody = -1;
    std::vector<std::int32_t> owner(at(n), nobody);
    for (const std::int32_t v : order) {
        std::int32_t best = nobody;
        for (int p = 0; p < parts; ++p) {
            if (room[at(p)] == 0 || !replicas.has(v, p)) continue;
            if (best == nobody || room[at(p)] > room[at(best)]) best = p;
        }
        if (best == nobody) continue;
        owner[at(v)] = best;
        --room[at(best)];
    }
    std::int32_t next = 0;  // the first part with room
    for (std::int32_t& p : owner) {
        if (p != nobody) continue;
        while (room[at(next)] == 0) ++next;
        p = next;
        --room[at(next)];
    }
    return owner;
}

}  // namespace gnnplan::data
