#include "tests/integration/full_space_runs.hpp"

#include <fmt/format.h>

namespace gnnplan::testing {

void ExpectedProblems::add(const TinyGraph& graph, const Network& network) {
    expected_.push_back(expect_of(problems_.emplace_back(graph, network), 2));
}

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks) {
    return search::make_space(problem.planner_problem(graph, ranks), test_machine(), {});
}

search::ConfigurationFrame frame_of(const Distribution& on, const Switches& switches) {
    search::ConfigurationFrame frame{on};
    if (on.grid.x > 1) frame.switches.exchange = switches.needed_rows ? Exchange::rows : Exchange::panels;
    frame.switches.overlap = on.can_overlap() && switches.overlap;
    frame.loss_rows = switches.loss_rows;
    frame.permutation = switches.permutation;
    if (switches.parts && on.grid.x > 1) frame.parts = on.grid.x;
    frame.factored = switches.factored;
    return frame;
}

void check_configuration(const TestProblem& problem, const Expected& expected, const Distribution& on,
                         const Switches& switches, const search::Choices& choices, Scores scores) {
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    search::Space space = space_of(problem, counts, on.grid.size());
    const bool paneled = switches.source_panels;
    if (paneled) space.shape.panel_columns = 3;  // blocks of a few panels, the last one smaller
    search::ConfigurationFrame frame = frame_of(on, switches);
    if (on.splits_columns()) frame.scores = scores;
    if (space.graph->weighted()) frame.factored = false;  // it has no scales that make its values
    const Configuration configuration = search::configuration_of(frame, choices);
    SCOPED_TRACE(fmt::format(
        "{}: {} on {}, forward {}, backward {}, operands {}, exchange {}{}{}{}{}{}{}{}{}{}{}", problem.name(),
        scheme_of(configuration), configuration.grid.text(), text(configuration.forward), text(configuration.backward),
        text(configuration.operands), static_cast<int>(configuration.exchange),
        configuration.overlap ? ", overlap" : "", configuration.loss_rows ? ", loss rows" : "",
        configuration.permutation ? ", permuted" : "", configuration.parts > 0 ? ", parts" : "",
        configuration.cached_aggregation ? ", cached" : "", configuration.replicated_input ? ", replicated input" : "",
        configuration.column_loss ? ", column loss" : "", configuration.factored_values ? ", factored" : "",
        paneled ? ", panels" : "", configuration.scores == Scores::whole_rows ? ", scores of whole rows" : ""));
    const Schedule schedule = lower::lower(space.model, configuration, space.shape);
    ASSERT_NO_THROW(validate(schedule));
    const auto runs = run_schedule(problem, schedule, 2);
    check_values(problem, runs, expected);
    EXPECT_TRUE(bytes_as_predicted(schedule, runs));
    EXPECT_TRUE(peaks_as_predicted(runs));
}

}  // namespace gnnplan::testing
