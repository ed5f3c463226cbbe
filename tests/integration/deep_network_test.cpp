// Networks of three and four layers, where masks and operands of weight gradients have to move.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/expectations.hpp"

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
    // Of the 64, those whose mask exists only in the layout it is not wanted in, and those with no weight-gradient
    // pair.
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

}  // namespace
}  // namespace gnnplan::testing
