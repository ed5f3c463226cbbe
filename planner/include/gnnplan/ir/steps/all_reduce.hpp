#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// Sums a partial tensor over the ranks along the axes of its sum, in place: afterwards each of them holds the sum of
// their blocks.
struct AllReduceStep {
    TensorId tensor;

    static constexpr std::string_view kind = "all_reduce";
    static constexpr bool local = false;
    static constexpr bool varies_with_rank = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.updates("tensor", self.tensor);
    }
    TensorId subject() const { return tensor; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    std::vector<int> group(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool over_all_ranks(const Schedule& schedule) const;
    bool depends_on_graph(const Schedule& schedule) const;  // where there is a summand for each nonzero
    TensorId summed() const { return tensor; }
    Collective collective(const Schedule&, int /*rank*/) const { return Collective::all_reduce; }
};

}  // namespace gnnplan
