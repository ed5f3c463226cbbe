#pragma once

#include <gnnplan/base/optimiser.hpp>
#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// One step of the optimiser on a weight or a bias.
struct UpdateStep {
    TensorId weight, gradient;
    std::optional<TensorId> moment1, moment2;  // what the rule remembers, as many as it has
    Optimiser rule = Optimiser::adam;
    bool decays = false;  // the run's weight decay applies

    static constexpr std::string_view kind = "update";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.updates("weight", self.weight);
        archive.reads("gradient", self.gradient);
        archive.updates("moment1", self.moment1);
        archive.updates("moment2", self.moment2);
        archive.value("rule", self.rule);
        archive.value("decays", self.decays);
    }
    TensorId subject() const { return weight; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
