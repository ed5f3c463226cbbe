#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// counts (1 x 4, f64, partial): correctly classified vertices of train, valid and test, and the sum of the
// cross-entropies of the validation vertices, which plans of earlier versions (1 x 3) do not have. Where labels are
// bits (1 x 10): true positives, false positives and false negatives of each of the three, and the sum.
struct ScoreStep {
    TensorId logits, labels, subset, counts;
    std::optional<TensorId> known = {};  // which bits are known; none: all

    static constexpr std::int64_t classified = 3, decided = 9;  // numbers in `counts` before the sum

    static constexpr std::string_view kind = "score";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("logits", self.logits);
        archive.reads("labels", self.labels);
        archive.reads("subset", self.subset);
        archive.writes("counts", self.counts);
        archive.may_read("known", self.known);
    }
    // How many numbers come before the loss, and whether it adds that up, too.
    std::int64_t numbers(const Schedule& schedule) const;
    bool adds_loss(const Schedule& schedule) const;
    TensorId subject() const { return logits; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId logits_of() const { return logits; }
};

}  // namespace gnnplan
