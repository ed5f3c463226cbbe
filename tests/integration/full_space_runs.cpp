#include "tests/integration/full_space_runs.hpp"

#include <fmt/format.h>

namespace gnnplan::testing {

void ExpectedProblems::add(const TinyGraph& graph, const Network& network) {
    expected_.push_back(expect_of(problems_.emplace_back(graph, network), 2));
}

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks) {
    return search::make_space(problem.planner_problem(graph, ranks), test_machine(), {});
}

search::ConfigurationFrame frame_of(const Distribution& on, int turn) {
    search::ConfigurationFrame frame{on};
    if (on.grid.x > 1) frame.switches.exchange = turn % 2 == 0 ? Exchange::panels : Exchange::rows;
    frame.switches.overlap = on.can_overlap() && turn / 2 % 2 == 1;
    frame.loss_rows = turn / 4 % 2 == 1;
    frame.permutation = turn / 8 % 2 == 1;
    if (turn / 16 % 4 == 1 && on.grid.x > 1) frame.parts = on.grid.x;
    frame.factored = turn / 64 % 2 == 1;
    return frame;
}

void check_configuration(const TestProblem& problem, const Expected& expected, const search::ConfigurationFrame& frame,
                         const search::Choices& choices, bool paneled) {
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    search::Space space = space_of(problem, counts, frame.on.grid.size());
    if (paneled) space.shape.panel_columns = 3;  // blocks of a few panels, the last one smaller
    const Configuration configuration = search::configuration_of(frame, choices);
    SCOPED_TRACE(fmt::format(
        "{}: {} on {}, forward {}, backward {}, operands {}, exchange {}{}{}{}{}{}{}{}{}{}", problem.name(),
        scheme_of(configuration), configuration.grid.text(), text(configuration.forward), text(configuration.backward),
        text(configuration.operands), static_cast<int>(configuration.exchange),
        configuration.overlap ? ", overlap" : "", configuration.loss_rows ? ", loss rows" : "",
        configuration.permutation ? ", permuted" : "", configuration.parts > 0 ? ", parts" : "",
        configuration.cached_aggregation ? ", cached" : "", configuration.replicated_input ? ", replicated input" : "",
        configuration.column_loss ? ", column loss" : "", configuration.factored_values ? ", factored" : "",
        paneled ? ", panels" : ""));
    const Schedule schedule = lower::lower(space.model, configuration, space.shape);
    ASSERT_NO_THROW(validate(schedule));
    const auto runs = run_schedule(problem, schedule, 2);
    check_values(problem, runs, expected);
    EXPECT_TRUE(bytes_as_predicted(schedule, runs));
    EXPECT_TRUE(peaks_as_predicted(runs));
}

}  // namespace gnnplan::testing
