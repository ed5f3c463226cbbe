#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// Sums that make the area under the ROC curve of each column, on a rank that has all rows of it. Row 3 s of `sums`
// (9 x columns, f64, partial) gets, of the split s = train, valid, test: how many of its vertices have the label; the
// next row how many are known not to; and the one behind that, of those that have it, twice the sum of their ranks by
// logits. `order` has room for the sort.
struct RankSumStep {
    TensorId logits, labels, subset, order, sums;
    std::optional<TensorId> known = {};  // which labels are known; none: all

    static constexpr std::int64_t rows = 9;

    static constexpr std::string_view kind = "rank_sum";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("logits", self.logits);
        archive.reads("labels", self.labels);
        archive.reads("subset", self.subset);
        archive.writes("order", self.order);
        archive.writes("sums", self.sums);
        archive.may_read("known", self.known);
    }
    TensorId subject() const { return logits; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId logits_of() const { return logits; }
};

}  // namespace gnnplan
