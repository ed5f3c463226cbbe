#include "runtime/graph/clones.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
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

// A clone of a vertex.
struct InGroup {
    int group;
    std::int32_t clone;
};

class CloneMaker {
public:
    CloneMaker(const Graph& graph, const Cut& cut, const CloneRules& rules)
        : graph_(graph), cut_(cut), rules_(rules), row_(at(rules.groups)) {}

    Clones make() {
        Clones made;
        list_clones(made);
        made.graph.symmetric = graph_.symmetric;
        made.graph.weighted = graph_.weighted;
        made.graph.share = true;
        made.graph.out = matrix_of(graph_.out, cut_.out);
        if (!graph_.symmetric) made.graph.in = matrix_of(graph_.in, cut_.in);
        made.counts_as = counts();
        if (rules_.delay) deal_turns(made);
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

    void list_clones(Clones& made) {
        std::vector<std::vector<std::int32_t>> of_group(at(rules_.groups));
        std::vector<std::int64_t> last(at(rules_.groups), -1);  // vertex of which the group has a clone
        first_.assign(at(graph_.vertices() + 1), 0);
        for (std::int64_t v = 0; v < graph_.vertices(); ++v) {
            const auto add = [&](std::int32_t p) {
                if (std::exchange(last[at(p)], v) == v) return;
                of_group[at(p)].push_back(static_cast<std::int32_t>(v));
                ++first_[at(v + 1)];
            };
            visit_parts(v, add);
            add(cut_.owner[at(v)]);
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        ensure(first_.back() < std::numeric_limits<std::int32_t>::max(), "clones are numbered in 32 bits");
        clones_.resize(at(first_.back()));
        std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
        std::vector<std::int32_t>& vertices = made.vertices.vertex;
        made.first.push_back(0);
        for (int p = 0; p < rules_.groups; ++p) {
            for (const std::int32_t v : of_group[at(p)]) {
                clones_[at(next[at(v)]++)] = {p, static_cast<std::int32_t>(vertices.size())};
                vertices.push_back(v);
            }
            made.first.push_back(std::ssize(vertices));
        }
    }

    // Those of a vertex, by group.
    std::span<const InGroup> clones_of(std::int64_t vertex) const {
        return std::span(clones_).subspan(at(first_[at(vertex)]), at(first_[at(vertex + 1)] - first_[at(vertex)]));
    }
    std::int32_t clone_in(int group, std::int64_t vertex) const {
        return std::ranges::lower_bound(clones_of(vertex), group, {}, &InGroup::group)->clone;
    }
    // Calls visit(entry, clone of the row, group) for each nonzero of a row, in each group that has it.
    template <class Visit>
    void visit_clones(const Csr& matrix, const std::vector<std::int16_t>& parts, std::int64_t v, const Visit& visit) {
        for (const InGroup& each : clones_of(v)) row_[at(each.group)] = each.clone;
        for (std::int64_t e = matrix.row_start[at(v)]; e < matrix.row_start[at(v) + 1]; ++e) {
            if (matrix.column[at(e)] != v || rules_.delay == 0) {
                visit(e, row_[at(parts[at(e)])], parts[at(e)]);
                continue;
            }
            for (const InGroup& each : clones_of(v)) visit(e, each.clone, each.group);
        }
    }

    // Nonzeros of a row ascend, and so do their clones in a group.
    Csr matrix_of(const Csr& matrix, const std::vector<std::int16_t>& parts) {
        Csr made;
        made.vertices = std::ssize(clones_);
        made.row_start.assign(clones_.size() + 1, 0);
        for (std::int64_t v = 0; v < graph_.vertices(); ++v)
            visit_clones(matrix, parts, v, [&](std::int64_t, std::int32_t row, int) { ++made.row_start[at(row + 1)]; });
        std::partial_sum(made.row_start.begin(), made.row_start.end(), made.row_start.begin());
        made.column.resize(at(made.row_start.back()));
        if (matrix.weighted()) made.weight.resize(made.column.size());
        std::vector<std::int64_t> next(made.row_start.begin(), made.row_start.end() - 1);
        for (std::int64_t v = 0; v < graph_.vertices(); ++v) {
            visit_clones(matrix, parts, v, [&](std::int64_t e, std::int32_t row, int group) {
                const std::int64_t to = next[at(row)]++;
                made.column[at(to)] = clone_in(group, matrix.column[at(e)]);
                if (matrix.weighted()) made.weight[at(to)] = matrix.weight[at(e)];
            });
        }
        return made;
    }

    std::vector<float> counts() const {
        std::vector<float> counted(clones_.size());
        std::vector<std::int64_t> here(at(rules_.groups));
        for (std::int64_t v = 0; v < graph_.vertices(); ++v) {
            for (const InGroup& each : clones_of(v)) here[at(each.group)] = 0;
            std::int64_t edges = 0;
            visit_parts(v, [&](std::int32_t p) { ++here[at(p)], ++edges; });
            for (const InGroup& each : clones_of(v)) {
                const bool by_share = rules_.loss == CloneLoss::shares && edges > 0;
                const double share = by_share ? static_cast<double>(here[at(each.group)]) / static_cast<double>(edges)
                                     : cut_.owner[at(v)] == each.group ? 1
                                                                       : 0;
                counted[at(each.clone)] = static_cast<float>(share);
            }
        }
        return counted;
    }

    // Vertices with several clones take turns; the owner has one of them.
    void deal_turns(Clones& made) const {
        const int bins = bins_of(rules_.delay);
        made.owner.resize(clones_.size()), made.bin.resize(clones_.size());
        made.shared.assign(at(std::int64_t{rules_.groups} * rules_.groups * bins), 0);
        std::int64_t split = 0;
        for (std::int64_t v = 0; v < graph_.vertices(); ++v) {
            const std::span<const InGroup> clones = clones_of(v);
            const std::int64_t bin = clones.size() > 1 ? split++ % bins : -1;
            const std::int32_t owner = cut_.owner[at(v)];
            for (const InGroup& each : clones) {
                made.owner[at(each.clone)] = owner;
                made.bin[at(each.clone)] = static_cast<std::int32_t>(bin);
                if (bin < 0) continue;
                ++made.shared[at((std::int64_t{each.group} * rules_.groups + owner) * bins + bin)];
            }
        }
    }

    const Graph& graph_;
    const Cut& cut_;
    CloneRules rules_;
    std::vector<std::int64_t> first_;  // of each vertex, in the next
    std::vector<InGroup> clones_;
    std::vector<std::int32_t> row_;  // by group: the clone of the vertex that is looked at
};

}  // namespace

std::int64_t Clones::bytes() const {
    return vertices.bytes() + static_cast<std::int64_t>(counts_as.size() * sizeof(float)) + graph.bytes() +
           static_cast<std::int64_t>((owner.size() + bin.size()) * sizeof(std::int32_t) +
                                     shared.size() * sizeof(std::int64_t));
}

std::int64_t Clones::shared_clones(int group, int of, int in_bin) const {
    if (shared.empty()) return 0;
    const std::int64_t pairs = std::int64_t{groups()} * groups();
    const std::int64_t bins = std::ssize(shared) / pairs;
    return shared[at((std::int64_t{group} * groups() + of) * bins + in_bin)];
}

std::vector<std::uint8_t> Clones::subsets(const std::vector<std::uint8_t>& of_vertices) const {
    std::vector<std::uint8_t> of_clones;
    for (const std::int32_t v : vertices.vertex) {
        if (!of_vertices.empty()) of_clones.push_back(of_vertices[at(v)]);
    }
    return of_clones;
}

Clones clones_of(const Graph& graph, const Numbering& numbering) {
    return clones_of(graph, cut(graph, numbering.cut, numbering.parts, numbering.seed),
                     {numbering.parts, numbering.clones, numbering.delay});
}

Clones clones_of(const Graph& graph, const Cut& cut, const CloneRules& rules) {
    ensure(rules.loss != CloneLoss::none && graph.drawn.empty(), "clones train, on all edges");
    return CloneMaker(graph, cut, rules).make();
}

}  // namespace gnnplan::data
