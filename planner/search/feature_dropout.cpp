#include "planner/search/feature_dropout.hpp"

#include <utility>

namespace gnnplan {
namespace {

// Another question for select().
struct Otherwise {
    Problem problem;
    SelectOptions options;
};

std::optional<Otherwise> otherwise(Problem problem, SelectOptions options, const Configuration& chosen) {
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
    return Otherwise{std::move(problem), std::move(options)};
}

}  // namespace

std::optional<SelectResult> select_otherwise(Problem problem, const Machine& machine, SelectOptions options,
                                             const Configuration& chosen) {
    const auto asked = otherwise(std::move(problem), std::move(options), chosen);
    return asked ? std::optional(select(asked->problem, machine, asked->options)) : std::nullopt;
}

namespace search {

void add_feature_dropout(Selection& selection, const Problem& problem, const Machine& machine,
                         const SelectOptions& options, NumberedGraphs& graphs) {
    Plan& plan = selection.plan;
    const auto asked = otherwise(problem, options, plan.candidates.front().configuration);
    if (!asked) return;
    const SelectResult found = select_on(graphs, asked->problem, machine, asked->options);
    selection.otherwise = found.infeasible;
    if (!found) return;
    const RankedConfiguration& best = found.selection->ranked.front();
    const std::optional<bool> drops = plan.problem.run.drops_features();
    Alternative alternative{
        {"feature_dropout", drops ? "off" : "on"}, drops.has_value(), best.configuration, best.predicted};
    alternative.predicted.step_seconds.clear();
    plan.alternatives.push_back(std::move(alternative));
}

}  // namespace search
}  // namespace gnnplan
