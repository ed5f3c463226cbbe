// Every two-layer configuration, on every number of ranks and every replication: values equal the serial reference,
// bytes and memory equal the prediction.
#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/expectations.hpp"
#include "tests/support/sampled.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gnnplan::testing {
namespace {

struct Case {
    TinyGraph graph;
    Network network;
};

std::vector<Case> cases() {
    const std::vector<TinyGraph> graphs = tiny_graphs();
    std::vector<Case> result;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        const std::int64_t hidden = i % 3 == 2 ? 2 : 6;  // at times below the number of ranks
        const bool bias = i % 2 == 0;
        result.push_back({graphs[i], {{hidden}, bias, 0, 0}});
        result.push_back({graphs[i], {{hidden + 1}, !bias, 0.5F, i % 4 < 2 ? 0.25F : 0}});
    }
    return result;
}

class EveryConfiguration : public ::testing::TestWithParam<Case> {};

TEST_P(EveryConfiguration, EqualsReferenceAndPrediction) {
    const TestProblem problem(GetParam().graph, GetParam().network);
    const exec::GraphCounts counts(problem.dataset().graph());
    const Expected expected = expect_of(problem, 2);
    int index = 0;
    for (const int ranks : {1, 2, 3, 4, 6, 8}) {
        for (const int replication : replications(ranks)) {
            for (const Candidate& candidate : configurations(problem, counts, ranks, replication)) {
                if (!sampled(index++)) continue;
                SCOPED_TRACE(fmt::format("{}: id {} on {} ranks, R_A = {}", problem.name(),
                                         candidate.configuration.id.value(), ranks, replication));
                const auto runs = run_schedule(problem, candidate.schedule, 2);
                check_values(problem, runs, expected);
                EXPECT_TRUE(bytes_as_predicted(candidate.schedule, runs));
                EXPECT_TRUE(peaks_as_predicted(runs));
                if (HasFailure()) return;  // the first failure says enough
            }
        }
    }
    EXPECT_EQ(index, 16 * 16);
}

// Many edges, narrow matrices: the peak is reached while the graph is loaded.
TEST(WhileLoading, PeakIsAsPredicted) {
    const TestProblem problem(random_directed(40, 30, 1, 2, 10), {{1}, false, 0, 0});
    const exec::GraphCounts counts(problem.dataset().graph());
    for (const Candidate& candidate : configurations(problem, counts, 8, 4)) {
        const MemoryPlan plan = plan_memory(candidate.schedule, counts, 0);
        EXPECT_GT(plan.load_bytes, plan.arena_bytes);
        const auto runs = run_schedule(problem, candidate.schedule, 1);
        ASSERT_TRUE(peaks_as_predicted(runs)) << candidate.configuration.id.value();
    }
}

INSTANTIATE_TEST_SUITE_P(Tiny, EveryConfiguration, ::testing::ValuesIn(cases()), [](const auto& instance) {
    return fmt::format("{}_{}_{}", instance.index, instance.param.graph.name,
                       instance.param.network.dropout > 0 ? "dropout" : "plain");
});

}  // namespace
}  // namespace gnnplan::testing
