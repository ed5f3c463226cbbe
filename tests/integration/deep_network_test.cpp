// Networks of three and four layers, where masks and operands of weight gradients have to move; and of five and eight
// layers, as the full space plans them.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/expectations.hpp"
#include "tests/support/sampled.hpp"

namespace gnnplan::testing {
namespace {

bool has_step(const Schedule& schedule, std::string_view name) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return step.name.find(name) != std::string::npos; });
}

// Runs configurations of `problem` on 4 ranks and returns how many moved a mask, and how many an operand, with R_A = 4.
struct Moved {
    int masks = 0;
    int operands = 0;
};

Moved check_on_four_ranks(const TestProblem& problem, const std::function<bool(std::int64_t id)>& wanted) {
    const exec::GraphCounts counts(problem.dataset().graph());
    const Expected expected = expect_of(problem, 2);
    Moved moved;
    int index = 0;
    for (const int replication : {1, 2, 4}) {
        for (const Candidate& candidate : configurations(problem, counts, 4, replication)) {
            const std::int64_t id = candidate.configuration.id.value();
            const Schedule& schedule = candidate.schedule;
            if (!wanted(id)) continue;
            if (replication == 4) {
                bool mask = false;
                for (int l = 1; l < problem.serial().layers(); ++l) {
                    mask = mask || has_step(schedule, fmt::format("mask.{}.redistribute", l));
                }
                moved.masks += mask ? 1 : 0;
                moved.operands += has_step(schedule, "operand") ? 1 : 0;
            }
            if (!sampled(index++)) continue;
            SCOPED_TRACE(fmt::format("{}: id {} with R_A = {}", problem.name(), id, replication));
            const auto runs = run_schedule(problem, schedule, 2);
            check_values(problem, runs, expected);
            EXPECT_TRUE(bytes_as_predicted(schedule, runs));
            EXPECT_TRUE(peaks_as_predicted(runs));
            if (::testing::Test::HasFailure()) return moved;
        }
    }
    return moved;
}

TEST(DeepNetwork, AllThreeLayerConfigurations) {
    const TestProblem problem(random_directed(23, 4, 7, 5, 1), {{6, 4}, true, 0.5F, 0.25F});
    const Moved moved = check_on_four_ranks(problem, [](std::int64_t) { return true; });
    // So many of the 64 have a mask only in the layout it is not wanted in, and so many have no weight-gradient pair.
    EXPECT_EQ(moved.operands, 4);
    EXPECT_EQ(moved.masks, 14);
}

TEST(DeepNetwork, AllThreeLayerConfigurationsOfASymmetricGraphWithoutDropout) {
    const TestProblem problem(random_symmetric(24, 5, 8, 4, 2), {{4, 8}, false, 0, 0});
    check_on_four_ranks(problem, [](std::int64_t) { return true; });
}

TEST(DeepNetwork, FourLayersWithMovedMasksAndOperands) {
    const TestProblem problem(random_directed(19, 3, 5, 3, 9), {{6, 4, 7}, true, 0.25F, 0});
    const std::set<std::int64_t> ids = {0, 36, 68, 75, 85, 100, 136, 146, 153, 165, 170, 180, 210, 255};
    const Moved moved = check_on_four_ranks(problem, [&](std::int64_t id) { return ids.contains(id); });
    EXPECT_GT(moved.masks, 0);
    EXPECT_GT(moved.operands, 0);
}

// Plans of the full space for deep networks: every candidate of the plan of each scheme.
class DeepPlan : public ::testing::TestWithParam<Network> {
protected:
    // The plan's candidates on `ranks` ranks; none where they form no grid of the scheme.
    static std::vector<Candidate> planned(const TestProblem& problem, const GraphStats& graph, int ranks,
                                          const std::string& scheme) {
        SelectOptions options;
        options.scheme = scheme;
        const SelectResult result = select(problem.planner_problem(graph, ranks), test_machine(), options);
        if (result) return result.selection->plan.candidates;
        EXPECT_EQ(result.code, ErrorCode::usage) << result.message;
        return {};
    }

    void check(const TestProblem& problem, const Expected& expected, const Candidate& candidate) const {
        const Configuration& configuration = candidate.configuration;
        if (configuration.constant_input && problem.network().input_dropout > 0) return;
        SCOPED_TRACE(fmt::format("{} on {}, forward {}, backward {}, operands {}{}{}", scheme_of(configuration),
                                 configuration.grid.text(), text(configuration.forward), text(configuration.backward),
                                 text(configuration.operands), configuration.loss_rows ? ", loss rows" : "",
                                 configuration.permutation ? ", permuted" : ""));
        const auto runs = run_schedule(problem, candidate.schedule, 2);
        check_values(problem, runs, expected);
        EXPECT_TRUE(bytes_as_predicted(candidate.schedule, runs));
        EXPECT_TRUE(peaks_as_predicted(runs));
        std::int64_t peak = 0;
        for (const RankRun& run : runs) peak = std::max(peak, run.allocated_peak);
        EXPECT_EQ(peak, candidate.predicted.peak_bytes_per_rank);
    }
};

TEST_P(DeepPlan, EqualsReferenceAndPrediction) {
    const TestProblem problem(random_directed(23, 2, 7, 4, 24), GetParam());
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    const Expected expected = expect_of(problem, 2);
    for (const int ranks : {4, 8}) {
        std::set<std::string> schemes;
        for (const std::string& scheme : scheme_names()) {
            for (const Candidate& candidate : planned(problem, counts, ranks, scheme)) {
                schemes.insert(scheme_of(candidate.configuration));
                check(problem, expected, candidate);
                if (HasFailure()) return;
            }
        }
        EXPECT_EQ(schemes.size(), scheme_names().size());
    }
}

INSTANTIATE_TEST_SUITE_P(Depths, DeepPlan,
                         ::testing::Values(Network{{6, 4, 7, 5}, true, 0.25F, 0.125F},
                                           Network{{9, 6, 8, 9, 7, 6, 8}, false, 0, 0}),
                         [](const auto& instance) { return fmt::format("L{}", instance.param.hidden.size() + 1); });

}  // namespace
}  // namespace gnnplan::testing
