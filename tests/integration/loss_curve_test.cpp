// One seed without dropout: every configuration has the loss curve of the serial reference, and it falls.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/train_plan.hpp"
#include "tests/support/compare.hpp"

namespace gnnplan::testing {
namespace {

constexpr int curve_epochs = 20;

std::vector<double> serial_curve(const TestProblem& problem, double weight_decay) {
    std::vector<double> curve;
    const Parameters initial = initial_parameters(problem.serial(), 1);
    for (const SerialEpoch& epoch :
         train(problem.serial(), problem.serial_settings(weight_decay), initial, curve_epochs)) {
        curve.push_back(epoch.before.loss);
    }
    return curve;
}

TEST(LossCurve, IsTheSameForEveryConfigurationAndFalls) {
    const TestProblem problem(planted(61, 8, 13, 5, 4), {{16}, false, 0, 0});
    const exec::GraphCounts counts(problem.dataset().graph());
    train::TrainOptions options;
    options.epochs = curve_epochs;
    options.eval_every = 0;
    options.autotune = 0;
    const std::vector<double> expected = serial_curve(problem, options.weight_decay);
    for (std::size_t e = 1; e < expected.size(); ++e) EXPECT_LT(expected[e], expected[e - 1]);
    EXPECT_LT(expected.back(), 0.9 * expected.front());
    int index = 0;
    for (const int ranks : {1, 2, 3, 4, 6, 8}) {
        for (const int replication : replications(ranks)) {
            for (const Candidate& candidate : configurations(problem, counts, ranks, replication)) {
                if (!sampled(index++)) continue;
                SCOPED_TRACE(
                    fmt::format("id {} on {} ranks, R_A = {}", candidate.configuration.id.value(), ranks, replication));
                const Plan plan = make_plan(problem.planner_problem(counts, ranks), test_machine(), {candidate});
                const auto reports = train_ranks(plan, problem.dataset(), options);
                ASSERT_EQ(reports[0].epochs.size(), expected.size());
                for (std::size_t e = 0; e < expected.size(); ++e) {
                    ASSERT_TRUE(close(reports[0].epochs[e].loss, expected[e], 1e-4)) << "epoch " << e + 1;
                }
                EXPECT_TRUE(bytes_as_predicted(reports[0].steps));
                EXPECT_EQ(reports[0].measured.total_bytes, candidate.predicted.total_bytes);
                EXPECT_EQ(reports[0].measured.max_rank_bytes, candidate.predicted.max_rank_bytes);
                EXPECT_EQ(reports[0].measured.peak_bytes_per_rank, candidate.predicted.peak_bytes_per_rank);
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
