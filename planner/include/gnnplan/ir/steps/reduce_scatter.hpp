#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// out = the sum of `in` over the one axis over which it is partial, each rank of which gets its block of the rows: they
// are split over that axis too. `in` is used up.
struct ReduceScatterStep {
    TensorId in, out;

    static constexpr std::string_view kind = "reduce_scatter";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.updates("in", self.in);
        archive.writes("out", self.out);
    }
    TensorId subject() const { return out; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    std::vector<int> group(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId summed() const { return in; }
    Collective collective(const Schedule&, int /*rank*/) const { return Collective::reduce_scatter; }
};

}  // namespace gnnplan
