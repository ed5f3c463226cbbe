#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// counts (1 x 4, f64, partial): correctly classified vertices of train, valid and test, and the sum of the
// cross-entropies of the validation vertices, which plans of earlier versions (1 x 3) do not have.
struct ScoreStep {
    TensorId logits, labels, subset, counts;

    static constexpr std::int64_t numbers = 3, values = 4;  // of counts: those of vertices, and all

    static constexpr std::string_view kind = "score";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("logits", self.logits);
        archive.reads("labels", self.labels);
        archive.reads("subset", self.subset);
        archive.writes("counts", self.counts);
    }
    // Whether it adds up the loss, too, which follows the numbers of vertices in `counts`.
    bool adds_loss(const Schedule& schedule) const;
    TensorId subject() const { return logits; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId logits_of() const { return logits; }
};

}  // namespace gnnplan
