#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// Cross-entropy over the training vertices: turns logits into their gradient in place; `loss` (1 x 1, f64, partial)
// gets the local sum, in which each row counts by its weight. Labels that are classes are those of a softmax: logits in
// C are column-parallel then, and the ranks of a y-group gather each other's maximum and sum of exponentials of every
// row. Labels that are bits, one for each column, are those of as many sigmoids, and every element has its own loss.
struct LossStep {
    TensorId logits, labels, subset, loss;
    std::optional<TensorId> weights = {};  // by how much of a vertex each row counts; none: of one
    std::optional<TensorId> known = {};    // which bits are known; none: all

    static constexpr std::string_view kind = "loss";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.updates("logits", self.logits);
        archive.reads("labels", self.labels);
        archive.reads("subset", self.subset);
        archive.writes("loss", self.loss);
        archive.may_read("weights", self.weights);
        archive.may_read("known", self.known);
    }
    TensorId subject() const { return logits; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId logits_of() const { return logits; }
    // Whether each rank has some columns of the logits of a softmax only, so that the ranks of a y-group make the loss
    // of a row together.
    bool column_parallel(const Schedule& schedule) const;
};

}  // namespace gnnplan
