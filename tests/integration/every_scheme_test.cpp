// The full space: every scheme on every grid of 1 to 12 ranks with every combination of layer choices, the dominated
// ones included. Exchange, overlap, numbering and pruned rows take turns; so do the graphs. Values equal the serial
// reference, bytes and memory equal the prediction.
#include "planner/search/full_space.hpp"
#include "tests/integration/expectations.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <deque>

namespace gnnplan::testing {
namespace {

// Problems with what they must give; every other one has dropout, on the features too for some.
class Problems {
public:
    Problems() {
        const std::vector<TinyGraph> graphs = tiny_graphs();
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            const std::int64_t hidden = i % 3 == 2 ? 2 : 6;  // at times below the number of ranks
            const Network plain{{hidden}, i % 2 == 0, 0, 0, i % 3 == 0};
            const Network dropped{{hidden + 1}, i % 2 != 0, 0.5F, i % 4 < 2 ? 0.25F : 0, i % 3 == 1};
            for (const Network& network : {plain, dropped}) {
                const TestProblem& problem = problems_.emplace_back(graphs[i], network);
                expected_.push_back(expect_of(problem, 2));
            }
        }
    }

    // The index-th problem that allows a constant input, or any.
    std::size_t pick(std::size_t index, bool constant_input) const {
        while (constant_input && problems_[index % problems_.size()].network().input_dropout > 0) ++index;
        return index % problems_.size();
    }
    const TestProblem& problem(std::size_t i) const { return problems_[i]; }
    const Expected& expected(std::size_t i) const { return expected_[i]; }

private:
    std::deque<TestProblem> problems_;
    std::vector<Expected> expected_;
};

const Problems& problems() {
    static const Problems all;
    return all;
}

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks) {
    return search::make_space(problem.planner_problem(graph, ranks), test_machine(), {});
}

// Switches by turns: every bit of the index decides one.
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

class EveryScheme : public ::testing::TestWithParam<int> {
protected:
    // Runs one configuration and returns whether everything was as it must be.
    void check(const search::ConfigurationFrame& frame, const search::Choices& choices, std::size_t index, bool paneled) {
        const std::size_t which = problems().pick(index, choices.front().constant_input);
        const TestProblem& problem = problems().problem(which);
        const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
        search::Space space = space_of(problem, counts, frame.on.grid.size());
        if (paneled) space.shape.panel_columns = 3;  // blocks of a few panels, the last one smaller
        const Configuration configuration = search::configuration_of(frame, choices);
        SCOPED_TRACE(
            fmt::format("{}: {} on {}, forward {}, backward {}, operands {}, exchange {}{}{}{}{}{}{}{}{}{}",
                        problem.name(), scheme_of(configuration), configuration.grid.text(),
                        text(configuration.forward), text(configuration.backward), text(configuration.operands),
                        static_cast<int>(configuration.exchange), configuration.overlap ? ", overlap" : "",
                        configuration.loss_rows ? ", loss rows" : "", configuration.permutation ? ", permuted" : "",
                        configuration.parts > 0 ? ", parts" : "", configuration.cached_aggregation ? ", cached" : "",
                        configuration.replicated_input ? ", replicated input" : "",
                        configuration.column_loss ? ", column loss" : "",
                        configuration.factored_values ? ", factored" : "", paneled ? ", panels" : ""));
        const Schedule schedule = lower::lower(space.model, configuration, space.shape);
        ASSERT_NO_THROW(validate(schedule));
        const auto runs = run_schedule(problem, schedule, 2);
        check_values(problem, runs, problems().expected(which));
        EXPECT_TRUE(bytes_as_predicted(schedule, runs));
        EXPECT_TRUE(peaks_as_predicted(runs));
    }
};

TEST_P(EveryScheme, EqualsReferenceAndPrediction) {
    const int ranks = GetParam();
    const std::size_t every = ranks > 4 ? 4 : 1;  // of the combinations of layer choices, in turns
    std::size_t index = 0;
    int run = 0;
    const exec::GraphCounts counts(problems().problem(0).dataset().graph());
    const search::Space space = space_of(problems().problem(0), counts, ranks);
    for (const Distribution& on : space.grids) {
        const auto sequences = search::all_choices(space, on, false);
        for (const search::Choices& choices : sequences) {
            if (++index % every != 0 || !sampled(run++)) continue;
            const int turn = static_cast<int>(index * 2654435761U >> 7U & 255U);
            check(frame_of(on, turn), choices, index, turn / 128 % 2 == 1);
            if (HasFailure()) return;  // the first failure says enough
        }
    }
    EXPECT_GT(run, 10);
}

// Operands of products are rounded to 2^-9 of themselves: losses move by less than a hundredth, and by something. What
// moves between ranks, and how much memory there is, is predicted as exactly as without.
TEST_P(EveryScheme, Bf16MovesLossesALittle) {
    const TestProblem& problem = problems().problem(0);
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    search::Space space = space_of(problem, counts, GetParam());
    space.options.bf16 = true;
    space.shape.panel_columns = 3;
    for (const Distribution& on : space.grids) {
        search::ConfigurationFrame frame{on};
        if (on.grid.x > 1) frame.switches.exchange = Exchange::panels;
        const search::Choices choices = search::all_choices(space, on, true).front();
        const Schedule unrounded = lower::lower(space.model, search::configuration_of(frame, choices), space.shape);
        frame.switches.bf16 = true;
        const Configuration configuration = search::configuration_of(frame, choices);
        EXPECT_TRUE(configuration.bf16 && !exact(configuration));
        const Schedule rounded = lower::lower(space.model, configuration, space.shape);
        ASSERT_NO_THROW(validate(rounded));
        SCOPED_TRACE(fmt::format("{} on {}", scheme_of(configuration), configuration.grid.text()));
        const auto runs = run_schedule(problem, rounded, 2);
        const auto as_always = run_schedule(problem, unrounded, 2);
        for (std::size_t epoch = 0; epoch < 2; ++epoch) {
            const double loss = as_always[0].epochs[epoch].loss;
            EXPECT_NEAR(runs[0].epochs[epoch].loss, loss, 0.01 * loss);
            EXPECT_NE(runs[0].epochs[epoch].loss, loss);
        }
        EXPECT_TRUE(bytes_as_predicted(rounded, runs));
        EXPECT_TRUE(peaks_as_predicted(runs));
    }
}

TEST_P(EveryScheme, NoBf16WithoutPackedPanels) {
    const TestProblem& problem = problems().problem(0);
    const exec::GraphCounts counts(problem.dataset().graph());
    const search::Space space = space_of(problem, counts, GetParam());
    for (const Distribution& on : space.grids) {
        if (on.grid.x == 1) continue;
        const search::Choices choices = search::all_choices(space, on, true).front();
        for (const search::ExchangeOptions& switches :
             {search::ExchangeOptions{Exchange::rows, false, true}, search::ExchangeOptions{Exchange::panels, true, true}}) {
            search::ConfigurationFrame frame{on};
            frame.switches = switches;
            const Configuration configuration = search::configuration_of(frame, choices);
            EXPECT_TRUE(!configuration.bf16 && exact(configuration));
            ASSERT_NO_THROW(validate(lower::lower(space.model, configuration, space.shape)));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryScheme, ::testing::Values(1, 2, 3, 4, 6, 8, 9, 12),
                         [](const auto& instance) { return fmt::format("P{}", instance.param); });

}  // namespace
}  // namespace gnnplan::testing
