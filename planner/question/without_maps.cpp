#include <gnnplan/question.hpp>

#include <gnnplan/models.hpp>

namespace gnnplan {

void add_plan_without_maps(Selection& selection, Problem problem, const Machine& machine, SelectOptions options) {
    const ModelRecord& model = problem.record.model;
    if (models::as_asked(model).pre.empty() || models::needs_maps(model)) return;  // none, or the model's own
    problem.record.model.pre.clear();
    problem.record.model.pre_activation = false;
    problem.ops = models::build(problem.record);
    options.alternatives = false;
    const SelectResult found = select(problem, machine, options);
    if (!found) return;
    const RankedConfiguration& best = found.selection->ranked.front();
    selection.plan.alternatives.push_back({{"pre", "off"}, true, best.configuration, best.predicted});
    selection.plan.alternatives.back().predicted.step_seconds.clear();
}

}  // namespace gnnplan
