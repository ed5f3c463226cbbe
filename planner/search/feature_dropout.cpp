#include "planner/search/feature_dropout.hpp"

namespace gnnplan {

std::optional<SelectResult> select_otherwise(Problem problem, const Machine& machine, SelectOptions options,
                                             const Configuration& chosen) {
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
    return select(problem, machine, options);
}

namespace search {

void add_feature_dropout(Selection& selection, const Problem& problem, const Machine& machine,
                         const SelectOptions& options) {
    Plan& plan = selection.plan;
    const auto otherwise = select_otherwise(problem, machine, options, plan.candidates.front().configuration);
    if (!otherwise) return;
    selection.otherwise = otherwise->infeasible;
    if (!*otherwise) return;
    const RankedConfiguration& best = otherwise->selection->ranked.front();
    const std::optional<bool> drops = plan.problem.run.drops_features();
    Alternative alternative{
        {"feature_dropout", drops ? "off" : "on"}, drops.has_value(), best.configuration, best.predicted};
    alternative.predicted.step_seconds.clear();
    plan.alternatives.push_back(std::move(alternative));
}

}  // namespace search
}  // namespace gnnplan
