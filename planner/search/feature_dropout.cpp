#include "planner/search/feature_dropout.hpp"

#include <utility>

namespace gnnplan {

namespace {

// `select`: of a problem and options.
template <class Select>
std::optional<SelectResult> otherwise(Problem problem, SelectOptions options, const Configuration& chosen,
                                      const Select& select) {
    constexpr double usual_dropout = 0.5;  // of the original GCN
    RunRecord& run = problem.record.run;
    const std::optional<bool> drops = run.drops_features();
    if (problem.record.task == Task::infer || options.constant_input) return std::nullopt;
    if (drops ? !*drops : !chosen.constant_input) return std::nullopt;
    if (drops) {
        run.input_dropout = 0;
    } else {
        run.dropout = usual_dropout;
    }
    options.alternatives = false;
    return select(problem, options);
}

}  // namespace

std::optional<SelectResult> select_otherwise(Problem problem, const Machine& machine, SelectOptions options,
                                             const Configuration& chosen) {
    return otherwise(std::move(problem), std::move(options), chosen,
                     [&](const Problem& other, const SelectOptions& asked) { return select(other, machine, asked); });
}

namespace search {

void add_feature_dropout(Selection& selection, const Problem& problem, const Machine& machine,
                         const SelectOptions& options, NumberedGraphs& graphs) {
    Plan& plan = selection.plan;
    const auto select_again = [&](const Problem& other, const SelectOptions& asked) {
        return select_on(graphs, other, machine, asked);
    };
    const auto found = otherwise(problem, options, plan.candidates.front().configuration, select_again);
    if (!found) return;
    selection.otherwise = found->infeasible;
    if (!*found) return;
    const RankedConfiguration& best = found->selection->ranked.front();
    const std::optional<bool> drops = plan.problem.run.drops_features();
    Alternative alternative{
        {"feature_dropout", drops ? "off" : "on"}, drops.has_value(), best.configuration, best.predicted};
    alternative.predicted.step_seconds.clear();
    plan.alternatives.push_back(std::move(alternative));
}

}  // namespace search
}  // namespace gnnplan
