#include "runtime/graph/clones.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <limits>
#include <utility>

namespace gnnplan::data {
namespace {

// Calls visit(entry, column, part) for the nonzeros of a row that are no loop.
template <class Visit>
void visit_edges(const Csr& matrix, const std::vector<std::int16_t>& parts, std::int64_t row, const Visit& visit) {
    for (std::int64_t e = matrix.row_start[at(row)]; e < matrix.row_start[at(row) + 1]; ++e) {
        if (matrix.column[at(e)] != row) visit(e, matrix.column[at(e)], parts[at(e)]);
    }
}

class CloneMaker {
public:
    CloneMaker(const Graph& graph, const Cut& cut, int groups) : graph_(graph), cut_(cut), groups_(groups) {}

    Clones make(CloneLoss loss) {
        list_clones();
        Clones made;
        made.first.push_back(0);
        for (const auto& vertices : of_group_) {
            made.first.push_back(made.first.back() + std::ssize(vertices));
            made.vertices.vertex.insert(made.vertices.vertex.end(), vertices.begin(), vertices.end());
        }
        ensure(made.first.back() < std::numeric_limits<std::int32_t>::max(), "clones are numbered in 32 bits");
        made.graph.symmetric = graph_.symmetric;
        made.graph.weighted = graph_.weighted;
        made.graph.share = true;
        made.graph.out = matrix_of(graph_.out, cut_.out, made.first);
        if (!graph_.symmetric) made.graph.in = matrix_of(graph_.in, cut_.in, made.first);
        made.counts_as = counts(loss);
        return made;
    }

private:
    // Both matrices have every edge of a vertex in its row, in one direction or the other.
    template <class Visit>
    void visit_parts(std::int64_t vertex, const Visit& visit) const {
        visit_edges(graph_.out, cut_.out, vertex, [&](std::int64_t, std::int32_t, std::int16_t p) { visit(p); });
        if (graph_.symmetric) return;
        visit_edges(graph_.in, cut_.in, vertex, [&](std::int64_t, std::int32_t, std::int16_t p) { visit(p); });
    }

    void list_clones() {
        of_group_.resize(at(groups_));
        std::vector<std::int64_t> last(at(groups_), -1);  // vertex of which the group has a clone
        for (std::int64_t v = 0; v < graph_.vertices(); ++v) {
            const auto add = [&](std::int32_t p) {
                if (std::exchange(last[at(p)], v) != v) of_group_[at(p)].push_back(static_cast<std::int32_t>(v));
            };
            visit_parts(v, add);
            add(cut_.owner[at(v)]);
        }
    }

    Csr matrix_of(const Csr& matrix, const std::vector<std::int16_t>& parts,
                  const std::vector<std::int64_t>& first) const {
        Csr made;
        made.vertices = first.back();
        made.row_start.push_back(0);
        std::vector<std::int32_t> clone(at(graph_.vertices()));  // of each vertex in this group
        for (int p = 0; p < groups_; ++p) {
            for (std::size_t i = 0; i < of_group_[at(p)].size(); ++i)
                clone[at(of_group_[at(p)][i])] = static_cast<std::int32_t>(first[at(p)]) + static_cast<std::int32_t>(i);
            for (const std::int32_t v : of_group_[at(p)]) {
                for (std::int64_t e = matrix.row_start[at(v)]; e < matrix.row_start[at(v) + 1]; ++e) {
                    const std::int32_t u = matrix.column[at(e)];
                    if (u != v && parts[at(e)] != p) continue;
                    made.column.push_back(clone[at(u)]);
                    if (matrix.weighted()) made.weight.push_back(matrix.weight[at(e)]);
                }
                made.row_start.push_back(std::ssize(made.column));
            }
        }
        return made;
    }

    std::vector<float> counts(CloneLoss loss) const {
        std::vector<float> counted;
        std::vector<std::int64_t> edges(at(graph_.vertices()), 0);
        for (std::int64_t v = 0; v < graph_.vertices(); ++v) visit_parts(v, [&](std::int32_t) { ++edges[at(v)]; });
        for (int p = 0; p < groups_; ++p) {
            for (const std::int32_t v : of_group_[at(p)]) {
                std::int64_t here = 0;
                visit_parts(v, [&](std::int32_t part) { here += part == p ? 1 : 0; });
                const bool owner = cut_.owner[at(v)] == p;
                const bool by_share = loss == CloneLoss::shares && edges[at(v)] > 0;
                counted.push_back(
                    by_share ? static_cast<float>(static_cast<double>(here) / static_cast<double>(edges[at(v)]))
                    : owner  ? 1.0F
                             : 0.0F);
            }
        }
        return counted;
    }

    const Graph& graph_;
    const Cut& cut_;
    int groups_;
    std::vector<std::vector<std::int32_t>> of_group_;  // vertices, ascending
};

std::int64_t bytes_of(const Csr& matrix) {
    return static_cast<std::int64_t>(matrix.row_start.size() * sizeof(std::int64_t) +
                                     matrix.column.size() * sizeof(std::int32_t) +
                                     matrix.weight.size() * sizeof(float));
}

}  // namespace

std::int64_t Clones::bytes() const {
    return vertices.bytes() + static_cast<std::int64_t>(counts_as.size() * sizeof(float)) + bytes_of(graph.out) +
           bytes_of(graph.in);
}

std::vector<std::uint8_t> Clones::subsets(const std::vector<std::uint8_t>& of_vertices) const {
    std::vector<std::uint8_t> of_clones;
    for (const std::int32_t v : vertices.vertex) {
        if (!of_vertices.empty()) of_clones.push_back(of_vertices[at(v)]);
    }
    return of_clones;
}

Clones clones_of(const Graph& graph, const Numbering& numbering) {
    return clones_of(graph, cut(graph, numbering.cut, numbering.parts, numbering.seed), numbering.parts,
                     numbering.clones);
}

Clones clones_of(const Graph& graph, const Cut& cut, int groups, CloneLoss loss) {
    ensure(loss != CloneLoss::none && graph.drawn.empty(), "clones train, on all edges");
    return CloneMaker(graph, cut, groups).make(loss);
}

}  // namespace gnnplan::data
