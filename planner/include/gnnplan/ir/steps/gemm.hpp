#pragma once

#include <gnnplan/ir/steps/map.hpp>
#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// out = in * W, or in * W^T (transposed), or that added to what `out` has (accumulate): rows stay where they are, W is
// replicated. Where `in` is in F, `out` may be in C: each rank multiplies by its columns of W (column-parallel).
struct GemmStep {
    TensorId in, weight, out;
    bool transposed;
    bool accumulate = false;
    std::optional<MapStep> then = {};  // what is done to the rows of `out` as they are made; see mark_finishes()

    static constexpr std::string_view kind = "gemm";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("in", self.in);
        archive.reads("weight", self.weight);
        self.accumulate ? archive.updates("out", self.out) : archive.writes("out", self.out);
        archive.value("transposed", self.transposed);
        archive.optional("accumulate", self.accumulate);
    }
    TensorId subject() const { return out; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
