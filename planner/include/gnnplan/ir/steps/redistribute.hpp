#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// The same matrix in another of the layouts C, R and F: every rank sends the intersections of its block with the blocks
// others need. Out of F nothing is sent.
struct RedistributeStep {
    TensorId in, out;

    static constexpr std::string_view kind = "redistribute";
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
    // Measured apart where floats are copied with a stride: source and target hold different ranges of columns.
    Collective collective(const Schedule& schedule, int rank) const;
    TensorId redistributed() const { return out; }
};

}  // namespace gnnplan
