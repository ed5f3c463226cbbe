// The toy model is known by its name, planned and lowered.
#include <gnnplan/catalog.hpp>
#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <iostream>

int main() {
    gnnplan::Problem problem;
    const gnnplan::UniformStats graph(10'000, 200'000, true);
    problem.graph = &graph;
    problem.record.model = {"plain", {64, 32, 8}, false};
    problem.record.graph.vertices = graph.vertices();
    problem.record.graph.nonzeros = graph.nonzeros();
    problem.record.ranks = 4;
    problem.ops = gnnplan::models::build(problem.record.model);
    const gnnplan::SelectResult result = gnnplan::select(problem, gnnplan::preset("a6000x8"));
    if (!result) {
        std::cerr << result.message << '\n';
        return 1;
    }
    const auto& steps = result.selection->plan.candidates.front().schedule.steps;
    for (const gnnplan::Step& step : steps) {
        const auto* update = std::get_if<gnnplan::UpdateStep>(&step.operation);
        if (update != nullptr && !update->decays) return 2;
        if (step.origin.op == gnnplan::OpKind::dropout) return 3;
    }
    return steps.empty() ? 4 : 0;
}
