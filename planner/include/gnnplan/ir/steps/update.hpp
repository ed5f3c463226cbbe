#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// One Adam step on a weight or a bias.
struct UpdateStep {
    TensorId weight, gradient, moment1, moment2;

    static constexpr std::string_view kind = "update";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.updates("weight", self.weight);
        archive.reads("gradient", self.gradient);
        archive.updates("moment1", self.moment1);
        archive.updates("moment2", self.moment2);
    }
    TensorId subject() const { return weight; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
