#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <utility>

namespace gnnplan {

// The values of edges on every rank of a y-group, where each has had those of the rows that it was dealt. A rank sends
// all that it has; the receiver knows where each value belongs.
struct EdgeGatherStep {
    TensorId in, out;

    static constexpr std::string_view kind = "edge_gather";
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
    bool depends_on_graph(const Schedule& /*schedule*/) const { return true; }
    // The matrices of `in` and `out`.
    std::pair<TensorId, TensorId> reordered_edges(const Schedule& schedule) const;
};

}  // namespace gnnplan
