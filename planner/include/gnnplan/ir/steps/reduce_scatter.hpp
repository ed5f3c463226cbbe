#pragma once

#include <gnnplan/ir/steps/step.hpp>
#include <gnnplan/ir/wire.hpp>

namespace gnnplan {

// out = the sum of `in` over the one axis over which it is partial, each rank of which gets its block of the rows: they
// are split over that axis too. `in` is used up. In fp32 sums go around a ring. In bf16 each rank sends every other one
// its summands of that one's block, which are rounded once, and which the owner adds to its own, those of the rank
// before it first.
struct ReduceScatterStep {
    TensorId in, out;
    Wire wire = Wire::fp32;

    static constexpr std::string_view kind = "reduce_scatter";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.updates("in", self.in);
        archive.writes("out", self.out);
        archive.optional("wire", self.wire);
    }
    TensorId subject() const { return out; }
    bool can_narrow(const Schedule&) const { return true; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    std::vector<int> group(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId summed() const { return in; }
    Collective collective(const Schedule&, int /*rank*/) const {
        return wire == Wire::fp32 ? Collective::reduce_scatter : Collective::none;
    }
};

}  // namespace gnnplan
