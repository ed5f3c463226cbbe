// Autotuning chooses by what it measures, not by what was predicted, among RDM's configurations of the paper. Time is a
// fake: each step takes what the work and the bytes of the step cost on a machine that the planner was told wrong
// things about.
#include "planner/cost/time.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/train_plan.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gnnplan::testing {
namespace {

class FakeClock final : public measure::Clock {
public:
    double now() override { return seconds_; }
    void advance(double seconds) { seconds_ += seconds; }

private:
    double seconds_ = 0;
};

// Only SpMM and bytes cost time.
Machine machine_with(double spmm_flops_per_second) {
    Machine machine = test_machine();
    machine.intra_node = {1e-12, 1e9};
    machine.inter_node = {1e-12, 1e9};
    machine.spmm = {{1, spmm_flops_per_second}};
    machine.gemm_flops_per_second = 1e14;
    machine.memory_bytes_per_second = 1e14;
    machine.step_seconds = 1e-12;
    return machine;
}

// The planner is told `factor` times the truth.
struct Misjudgement {
    const char* name;
    double true_rate;
    double factor;
};

// By rank and candidate: how much slower than the true machine.
using Slowdown = std::function<double(int rank, int candidate)>;

class Autotune : public ::testing::TestWithParam<Misjudgement> {
protected:
    Plan plan(const Machine& machine) const {
        SelectOptions options;
        options.space = SearchSpace::paper;
        const SelectResult result = select(problem.planner_problem(counts, ranks), machine, options);
        if (!result) throw Error(result.code, result.message);
        return result.selection->plan;
    }

    RankTools tools(int rank, const Slowdown& slowdown) const {
        auto clock = std::make_shared<FakeClock>();
        auto candidate = std::make_shared<int>(0);
        RankTools result;
        result.clock = clock;
        result.hooks.candidate = [candidate](int index) { *candidate = index; };
        result.hooks.step = [=, this](std::int64_t /*epoch*/, const Step& step, const exec::Executor& executor) {
            const Schedule& schedule = executor.schedule();
            const auto costed = cost::ranks_to_cost(schedule, counts, truth);
            const double seconds = cost::step_seconds(schedule, step, counts, truth, costed);
            clock->advance(seconds * (slowdown ? slowdown(rank, *candidate) : 1.0));
        };
        return result;
    }

    std::vector<RunReport> train_for(const Plan& plan, std::int64_t epochs, const Slowdown& slowdown = {}) const {
        train::TrainOptions options;
        options.epochs = epochs;
        options.autotune = epochs > 2 ? 2 : 0;
        options.eval_every = 0;
        return train_ranks(plan, problem.dataset(), options, [&](int rank) { return tools(rank, slowdown); });
    }

    // Seconds of a candidate's epochs when it runs alone.
    double alone(const Plan& plan, std::size_t candidate) const {
        Plan single = plan;
        single.candidates = {plan.candidates[candidate]};
        return train_for(single, 2).front().measured.epoch_seconds;
    }

    static constexpr int ranks = 4;
    const Machine truth = machine_with(GetParam().true_rate);
    const TestProblem problem{planted(150, 12, 48, 5, 4), {{12}, false, 0, 0}};
    const exec::GraphCounts counts{problem.dataset().graph()};
};

TEST_P(Autotune, EndsOnACandidateNearTheBestOfAll) {
    const Plan wrong = plan(machine_with(GetParam().true_rate * GetParam().factor));
    ASSERT_GE(wrong.candidates.size(), 2U);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < wrong.candidates.size(); ++i) seconds.push_back(alone(wrong, i));
    const double best = *std::min_element(seconds.begin(), seconds.end());
    EXPECT_GT(seconds.front(), 1.05 * best) << "the wrong profile did not mislead the planner: nothing is tested";
    for (const RunReport& report : train_for(wrong, 30)) {
        EXPECT_EQ(report.tried.size(), wrong.candidates.size());
        EXPECT_LE(seconds[static_cast<std::size_t>(report.chosen)], 1.05 * best);
        EXPECT_EQ(report.configuration.id, wrong.candidates[static_cast<std::size_t>(report.chosen)].configuration.id);
    }
}

// The slowest rank decides: a candidate that is fast on three ranks and slow on one is slow, on all of them.
TEST_P(Autotune, RanksThatMeasureDifferentTimesTakeOneDecision) {
    const Plan known = plan(truth);
    ASSERT_GE(known.candidates.size(), 3U);
    const int slow_rank = 2;
    const auto reports = train_for(known, 30, [](int rank, int candidate) {
        if (candidate == 1) return rank == slow_rank ? 1.0 : 0.001;  // the best on most ranks and on average
        if (candidate == 2) return 0.5;
        return rank == slow_rank ? 100.0 : 0.01;
    });
    for (const RunReport& report : reports) {
        EXPECT_EQ(report.chosen, 2);
        ASSERT_EQ(report.tried.size(), known.candidates.size());
        for (std::size_t i = 0; i < report.tried.size(); ++i) {
            EXPECT_EQ(report.tried[i].median_seconds, reports[0].tried[i].median_seconds);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SpmmRate, Autotune,
                         ::testing::Values(Misjudgement{"TooFast", 4e8, 10}, Misjudgement{"TooSlow", 4e9, 0.1}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace gnnplan::testing
