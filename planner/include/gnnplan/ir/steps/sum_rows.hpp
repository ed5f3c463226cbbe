#pragma once

#include <gnnplan/ir/steps/step.hpp>
#include <gnnplan/ir/wire.hpp>

namespace gnnplan {

// out = the sum of `in` over the ranks along x, which have parts of a cut: each has summands of the rows in which its
// part of `matrix` holds a nonzero, and sends each to the rank that owns the row. The owner adds them to its own, rank
// after rank in an order that the grid decides. `in` is used up. In bf16 each summand that is sent is rounded once.
struct SumRowsStep {
    TensorId matrix, in, out;
    Wire wire = Wire::fp32;

    static constexpr std::string_view kind = "sum_rows";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("matrix", self.matrix);
        archive.updates("in", self.in);
        archive.writes("out", self.out);
        archive.optional("wire", self.wire);
    }
    TensorId subject() const { return out; }
    bool can_narrow(const Schedule&) const { return true; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool depends_on_graph(const Schedule&) const { return true; }
    TensorId summed() const { return in; }
};

}  // namespace gnnplan
