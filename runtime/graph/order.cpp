#include "runtime/graph/order.hpp"

#include "runtime/graph/partition.hpp"
#include "runtime/graph/streams.hpp"
#include "runtime/graph/subset.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::data {
namespace {

// The last layer whose rows of each vertex the loss needs: the largest l with v in N_l, or -1 where there is none. A
// breadth-first search against the edges, from the training vertices.
std::vector<std::int32_t> last_layer_needed(const Graph& graph, const std::vector<std::uint8_t>& subset, int layers) {
    const std::int64_t n = graph.vertices();
    ensure(subset.empty() || subset.size() == at(n), "one subset for each vertex");
    std::vector<std::int32_t> last(at(n), -1);
    std::vector<std::int32_t> frontier;
    for (std::int64_t v = 0; v < n; ++v) {
        if (!subset.empty() && subset[at(v)] != Subset::train) continue;
        last[at(v)] = layers;
        frontier.push_back(static_cast<std::int32_t>(v));
    }
    const Csr& sources = graph.matrix(forward_matrix);
    std::vector<std::int32_t> reached;
    for (int layer = layers - 1; layer >= 0 && !frontier.empty(); --layer) {
        reached.clear();
        for (const std::int32_t v : frontier) {
            for (std::int64_t k = sources.row_start[at(v)]; k < sources.row_start[at(v) + 1]; ++k) {
                const std::int32_t u = sources.column[at(k)];
                if (last[at(u)] >= 0) continue;
                last[at(u)] = layer;
                reached.push_back(u);
            }
        }
        frontier.swap(reached);
    }
    return last;
}

void shuffle(std::vector<std::int32_t>& vertices, std::uint64_t seed) {
    for (auto i = static_cast<std::int64_t>(vertices.size()) - 1; i > 0; --i) {
        std::swap(vertices[at(i)], vertices[at(draw_below(seed, order_stream, i, 0, i + 1))]);
    }
}

// As far as no graph is needed.
std::vector<std::int32_t> first_order(std::int64_t count, const Numbering& numbering) {
    std::vector<std::int32_t> vertices(at(count));
    std::iota(vertices.begin(), vertices.end(), 0);
    if (numbering.permuted) shuffle(vertices, numbering.seed);
    return vertices;
}

// Sorts by key(v), of which there are `keys` from 0 on; equal ones stay in their order.
template <class Key>
void sort_by(std::vector<std::int32_t>& vertices, std::int64_t keys, Key key) {
    std::vector<std::int64_t> first(at(keys) + 1, 0);
    for (const std::int32_t v : vertices) ++first[at(key(v)) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::int32_t> sorted(vertices.size());
    for (const std::int32_t v : vertices) sorted[at(first[at(key(v))]++)] = v;
    vertices.swap(sorted);
}

void invert(VertexOrder& order) {
    order.position.resize(order.vertex.size());
    for (std::size_t i = 0; i < order.vertex.size(); ++i) {
        order.position[at(order.vertex[i])] = static_cast<std::int32_t>(i);
    }
}

}  // namespace

std::int64_t VertexOrder::clone_of(std::int64_t v, Range rows) const {
    const auto begin = vertex.begin() + rows.begin, end = vertex.begin() + rows.end;
    const auto found = std::lower_bound(begin, end, v);
    return found != end && *found == v ? found - vertex.begin() : -1;
}

VertexOrder make_order(const Graph& graph, const std::vector<std::uint8_t>& subset, const Numbering& numbering) {
    VertexOrder order;
    if (numbering.identity() || numbering.has_clones()) return order;
    // From the finest rule to the coarsest, each of which keeps the order of what it finds equal.
    order.vertex = first_order(graph.vertices(), numbering);
    if (numbering.parts > 1) {
        ensure(numbering.cut == CutRule::none || numbering.loss_layers == 0, "parts of a cut are blocks of vertices");
        if (numbering.cut != CutRule::none)
            order.cut = std::make_shared<const Cut>(cut(graph, numbering.cut, numbering.parts, numbering.seed));
        const std::vector<std::int32_t> part =
            order.cut != nullptr ? order.cut->owner : partition(graph, numbering.parts);
        sort_by(order.vertex, numbering.parts, [&](std::int32_t v) { return part[at(v)]; });
    }
    if (numbering.loss_layers > 0) {
        const std::vector<std::int32_t> last = last_layer_needed(graph, subset, numbering.loss_layers);
        const std::int32_t layers = numbering.loss_layers;
        sort_by(order.vertex, layers + 2, [&](std::int32_t v) { return layers - last[at(v)]; });
    }
    invert(order);
    return order;
}

VertexOrder make_order(std::int64_t vertices, const Numbering& numbering) {
    ensure(numbering.parts <= 1 && numbering.loss_layers == 0, "the graph decides how its vertices are numbered");
    VertexOrder order;
    if (numbering.identity()) return order;
    order.vertex = first_order(vertices, numbering);
    invert(order);
    return order;
}

std::vector<std::int64_t> loss_row_counts(const Graph& graph, const std::vector<std::uint8_t>& subset, int layers) {
    std::vector<std::int64_t> counts(at(layers) + 1, 0);
    for (const std::int32_t last : last_layer_needed(graph, subset, layers)) {
        if (last >= 0) ++counts[at(last)];
    }
    for (std::size_t l = counts.size() - 1; l > 0; --l) counts[l - 1] += counts[l];
    return counts;
}

}  // namespace gnnplan::data
