// Reading guide: edges of the undirected pattern get their parts by one of three rules, vertices get owners, and the
// nonzeros of both matrices look up their edge.
#include "runtime/graph/cut.hpp"

#include "runtime/graph/cut_owners.hpp"
#include "runtime/graph/metis.hpp"
#include "runtime/graph/neighbours.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/graph/partition.hpp"
#include "runtime/graph/stream_cut.hpp"
#include "runtime/graph/vertex_cover.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace gnnplan::data {
namespace {

// No part has more than this many times the mean number of edges. It rarely binds: Libra balances by itself.
constexpr double most_over_mean = 1.05;

std::vector<std::int32_t> shuffled(std::int64_t vertices, std::uint64_t seed) {
    return make_order(vertices, {.permuted = true, .seed = seed}).vertex;
}

void deal_rest(const Neighbours& graph, int parts, std::uint64_t seed, EdgeParts& part) {
    const double edges = static_cast<double>(graph.vertex.size()) / 2;
    const auto most = static_cast<std::int64_t>(std::ceil(most_over_mean * edges / parts));
    deal_edges(graph, shuffled(graph.vertices(), seed), parts, most, part);
}

EdgeParts seeded_parts(Neighbours& graph, int parts, std::uint64_t seed) {
    EdgeParts part(graph.vertex.size(), no_part);
    if (metis_cuts(graph, parts)) {
        const std::vector<std::int32_t> of = metis_parts(graph, parts, Weighed::by_degree);
        for (std::int64_t v = 0; v < graph.vertices(); ++v) {
            for (std::int32_t k = graph.start[at(v)]; k < graph.start[at(v) + 1]; ++k) {
                if (of[at(graph.vertex[at(k)])] == of[at(v)]) part[at(k)] = static_cast<std::int16_t>(of[at(v)]);
            }
        }
    }
    deal_rest(graph, parts, seed, part);
    return part;
}

// Edges between two parts go where a smallest cover of them says.
class CoverParts {
public:
    CoverParts(const Neighbours& graph, const std::vector<std::int32_t>& owner, int parts)
        : graph_(graph), owner_(owner), part_(graph.vertex.size(), no_part), load_(at(parts), 0) {}

    EdgeParts deal() {
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Edge>> pairs;
        for (std::int32_t u = 0; u < static_cast<std::int32_t>(owner_.size()); ++u) {
            for (std::int32_t k = graph_.start[at(u)]; k < graph_.start[at(u) + 1]; ++k) {
                const std::int32_t of_u = owner_[at(u)];
                const std::int32_t of_v = owner_[at(graph_.vertex[at(k)])];
                if (of_u == of_v) {
                    part_[at(k)] = static_cast<std::int16_t>(of_u);
                    ++load_[at(of_u)];  // twice: once for each direction
                } else if (of_u < of_v) {
                    pairs[{of_u, of_v}].push_back({u, k});
                }
            }
        }
        for (const auto& [between, edges] : pairs) deal_between(between.first, between.second, edges);
        return std::move(part_);
    }

private:
    struct Edge {
        std::int32_t left;   // owned by the lower part
        std::int32_t entry;  // of Neighbours::vertex
    };

    // An end in the cover goes to the other part, where the edge is. With both ends in it, the part of fewer edges has
    // the edge.
    void deal_between(std::int32_t low, std::int32_t high, const std::vector<Edge>& edges) {
        Bipartite between;
        between.edges.reserve(edges.size());
        std::vector<std::int32_t> right(edges.size());
        std::ranges::transform(edges, right.begin(), [&](const Edge& e) { return graph_.vertex[at(e.entry)]; });
        std::ranges::sort(right);
        right.erase(std::unique(right.begin(), right.end()), right.end());
        between.right = static_cast<std::int32_t>(right.size());
        std::int32_t last = -1;
        for (const Edge& e : edges) {
            if (e.left != last) ++between.left;
            last = e.left;
            const auto r = std::ranges::lower_bound(right, graph_.vertex[at(e.entry)]) - right.begin();
            between.edges.emplace_back(between.left - 1, static_cast<std::int32_t>(r));
        }
        const VertexCover cover = smallest_vertex_cover(between);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const bool left = cover.left[at(between.edges[i].first)];
            const bool goes_high =
                left && cover.right[at(between.edges[i].second)] ? load_[at(high)] < load_[at(low)] : left;
            const std::int32_t p = goes_high ? high : low;
            set_both(graph_, edges[i].left, edges[i].entry, static_cast<std::int16_t>(p), part_);
            load_[at(p)] += 2;
        }
    }

    const Neighbours& graph_;
    const std::vector<std::int32_t>& owner_;
    EdgeParts part_;
    std::vector<std::int64_t> load_;  // nonzeros of each part
};

std::vector<std::int16_t> parts_of(const Csr& matrix, const Neighbours& graph, const EdgeParts& part,
                                   const std::vector<std::int32_t>& owner) {
    std::vector<std::int16_t> of(matrix.column.size());
    for (std::int64_t v = 0; v < matrix.rows(); ++v) {
        std::int32_t k = graph.start[at(v)];
        for (std::int64_t e = matrix.row_start[at(v)]; e < matrix.row_start[at(v) + 1]; ++e) {
            const std::int32_t u = matrix.column[at(e)];
            if (u == v) {
                of[at(e)] = static_cast<std::int16_t>(owner[at(v)]);
                continue;
            }
            while (graph.vertex[at(k)] < u) ++k;
            of[at(e)] = part[at(k)];
        }
    }
    return of;
}

}  // namespace

Cut cut(const Graph& graph, CutRule rule, int parts, std::uint64_t seed) {
    ensure(rule != CutRule::none && parts >= 2 && parts <= most_cut_parts, "a cut into two parts or more");
    Neighbours pattern = neighbours_of(graph);
    Cut result;
    EdgeParts part;
    if (rule == CutRule::cover) {
        result.owner = partition(pattern, parts);
        part = CoverParts(pattern, result.owner, parts).deal();
    } else {
        part.assign(pattern.vertex.size(), no_part);
        if (rule == CutRule::seeded) {
            part = seeded_parts(pattern, parts, seed);
        } else {
            deal_rest(pattern, parts, seed, part);
        }
        result.owner = choose_owners(pattern, part, parts);
    }
    result.out = parts_of(graph.out, pattern, part, result.owner);
    if (!graph.symmetric) result.in = parts_of(graph.in, pattern, part, result.owner);
    return result;
}

}  // namespace gnnplan::data
