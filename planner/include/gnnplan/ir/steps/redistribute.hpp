#pragma once

#include <gnnplan/ir/steps/step.hpp>
#include <gnnplan/ir/wire.hpp>

namespace gnnplan {

// The same matrix in another of the layouts C, R and F, or by columns over all ranks: every rank sends the
// intersections of its block with the blocks others need. Out of F nothing is sent within a y-group.
//
// `in` and `out` may have rows of different spaces, each the first rows of the larger one (Numbering): rows that `out`
// lacks are left out, and rows that `in` lacks are zero. Their blocks do not lie on the same ranks along x and z then.
//
// In bf16 what is sent is rounded. Where `out` is in F, a rank rounds its own part, too, or the copies in a y-group
// would differ.
struct RedistributeStep {
    TensorId in, out;
    Wire wire = Wire::fp32;

    static constexpr std::string_view kind = "redistribute";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("in", self.in);
        archive.writes("out", self.out);
        archive.optional("wire", self.wire);
    }
    TensorId subject() const { return out; }
    // Whether the rows of `in` and `out` are of different spaces.
    bool between_spaces(const Schedule& schedule) const;
    // Whether ranks of several y-groups exchange rows, as they do between spaces, and to columns over all ranks.
    bool across_groups(const Schedule& schedule) const;
    // Whether a rank rounds what it keeps.
    bool rounds_own(const Schedule& schedule) const;
    // Whether a rank may take rows from another: in F, where each rank of a y-group has all columns, only from one that
    // is at its own place.
    bool may_take(const Schedule& schedule, int a, int b) const;
    // Whether the rows may be sent in bfloat16: they hold numbers, and are not gathered into whole columns to rank them
    // (ROC-AUC).
    bool can_narrow(const Schedule& schedule) const;
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
