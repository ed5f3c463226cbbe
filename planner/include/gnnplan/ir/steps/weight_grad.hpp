#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// gradient = left^T * right over the local rows, a partial sum on every rank: both in R, or `left` in F and `right` in
// C, whose columns are then the only ones that are not 0.
struct WeightGradStep {
    TensorId left, right, gradient;

    static constexpr std::string_view kind = "weight_grad";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("left", self.left);
        archive.reads("right", self.right);
        archive.writes("gradient", self.gradient);
    }
    TensorId subject() const { return gradient; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
