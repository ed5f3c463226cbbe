#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// For each piece of `matrix`, tells the rank that holds the dense rows which of them are needed. Once, in setup, for
// every matrix whose products exchange needed rows.
struct RowRequestStep {
    TensorId matrix;

    static constexpr std::string_view kind = "index";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("matrix", self.matrix);
    }
    TensorId subject() const { return matrix; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    TensorId requested_rows() const { return matrix; }
    bool depends_on_graph(const Schedule&) const { return true; }
};

}  // namespace gnnplan
