#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <utility>

namespace gnnplan {

// The values of edges where the transpose of their matrix has them: out(u, v) = in(v, u). A rank of the same x-group
// sends what it has of another one's rows, in the order in which it has them; the receiver knows where it belongs.
struct EdgeTransposeStep {
    TensorId in, out;

    static constexpr std::string_view kind = "edge_transpose";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("in", self.in);
        archive.writes("out", self.out);
    }
    TensorId subject() const { return out; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool depends_on_graph(const Schedule& schedule) const;
    // The matrices of `in` and `out`.
    std::pair<TensorId, TensorId> reordered_edges(const Schedule& schedule) const;
};

}  // namespace gnnplan
