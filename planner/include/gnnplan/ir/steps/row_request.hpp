#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// For each piece of `matrix`, tells the rank that holds the dense rows which of them are needed. Once, in setup, for
// every matrix whose products exchange needed rows. Where these are `relayed`, a rank asks only for the rows that it
// gets straight. Of `targets`, of a cut: tells each owner of rows which of them this rank will send it sums of.
struct RowRequestStep {
    TensorId matrix;
    bool targets = false;
    bool relayed = false;

    static constexpr std::string_view kind = "index";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("matrix", self.matrix);
        archive.optional("targets", self.targets);
        archive.optional("relayed", self.relayed);
    }
    TensorId subject() const { return matrix; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    // Bytes of the numbers of rows that others than their holders send the rank, and of those that it passes on.
    std::int64_t passed_bytes(const Schedule& schedule, const GraphStats& graph, int rank) const;
    std::optional<TensorId> requested_rows() const { return targets ? std::nullopt : std::optional(matrix); }
    bool depends_on_graph(const Schedule&) const { return true; }
};

}  // namespace gnnplan
