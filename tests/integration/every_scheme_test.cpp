// The full space: every scheme on every grid of 1 to 12 ranks with every combination of layer choices, the dominated
// ones included. Exchange, overlap, numbering and pruned rows take turns; so do the graphs. Values equal the serial
// reference, bytes and memory equal the prediction.
#include "tests/integration/full_space_runs.hpp"
#include "tests/support/sampled.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gnnplan::testing {
namespace {

// Every other problem has dropout, on the features too for some.
ExpectedProblems all_problems() {
    ExpectedProblems all;
    const std::vector<TinyGraph> graphs = tiny_graphs();
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        const std::int64_t hidden = i % 3 == 2 ? 2 : 6;  // at times below the number of ranks
        const auto matrix = [](bool mean) {
            return models::MatrixForm{true, mean ? Normalisation::row_mean : Normalisation::symmetric};
        };
        all.add(graphs[i], {{hidden}, i % 2 == 0, 0, 0, matrix(i % 3 == 0)});
        all.add(graphs[i], {{hidden + 1}, i % 2 != 0, 0.5F, i % 4 < 2 ? 0.25F : 0, matrix(i % 3 == 1)});
    }
    return all;
}

const ExpectedProblems& problems() {
    static const ExpectedProblems all = all_problems();
    return all;
}

class EveryScheme : public ::testing::TestWithParam<int> {
protected:
    // Runs one configuration on the problem whose turn it is.
    void check(const Distribution& on, const search::Choices& choices, std::size_t index) {
        const std::size_t which =
            problems().pick(index, [&](const TestProblem& problem) { return fits_input(problem, choices); });
        check_configuration(problems().problem(which), problems().expected(which), on, switches_in_turn(index),
                            choices);
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
            check(on, choices, index);
            if (HasFailure()) return;  // the first failure says enough
        }
    }
    EXPECT_GT(run, 10);
}

// Operands of products are rounded to 2^-9 of themselves: losses move by less than a hundredth, and by something. Bytes
// between ranks and memory are predicted as exactly as without.
TEST_P(EveryScheme, Bf16MovesLossesALittle) {
    const TestProblem& problem = problems().problem(0);
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    search::Space space = space_of(problem, counts, GetParam());
    space.options.bf16 = true;
    space.shape.panel_columns = 3;
    for (const Distribution& on : space.grids) {
        if (on.sharing == Sharing::cut) continue;  // it exchanges needed rows
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
        if (on.grid.x == 1 || on.sharing == Sharing::cut) continue;
        const search::Choices choices = search::all_choices(space, on, true).front();
        for (const auto& [exchange, overlap] : {std::pair(Exchange::rows, false), std::pair(Exchange::panels, true)}) {
            search::ConfigurationFrame frame{on};
            frame.switches.exchange = exchange, frame.switches.overlap = overlap, frame.switches.bf16 = true;
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
