// Autotuning over candidates of different schemes, as the full space offers them: whichever wins trains on, and the
// network that is trained is the same.
#include "runtime/deploy/report.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/train_plan.hpp"
#include "tests/support/compare.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gnnplan::testing {
namespace {

constexpr int ranks = 4;
constexpr int epochs = 24;

// Each look moves time on by `tick` seconds.
class TickingClock final : public measure::Clock {
public:
    double now() override { return time_ += tick; }
    double tick = 1;

private:
    double time_ = 0;
};

class AutotuneSchemes : public ::testing::TestWithParam<Network> {
protected:
    static Plan selected(const Problem& asked, const SelectOptions& options) {
        const SelectResult result = select(asked, test_machine(), options);
        if (!result) throw Error(result.code, result.message);
        return result.selection->plan;
    }

    // The candidates of select(); with dropout on the features, those of each scheme that allow it.
    Plan full_plan() const {
        const Problem asked = problem.planner_problem(counts, ranks);
        Plan made = selected(asked, {});
        if (GetParam().input_dropout == 0) return made;
        made.candidates.clear();
        for (const std::string& scheme : scheme_names()) {
            SelectOptions options;
            options.scheme = scheme;
            for (Candidate& candidate : selected(asked, options).candidates) {
                if (!candidate.configuration.constant_input) made.candidates.push_back(std::move(candidate));
            }
        }
        made.candidates.resize(std::min<std::size_t>(made.candidates.size(), max_candidates));
        return made;
    }

    train::TrainOptions options(std::int64_t autotune) const {
        train::TrainOptions options;
        options.epochs = epochs;
        options.eval_every = epochs;
        options.dropout = GetParam().dropout;
        options.input_dropout = GetParam().input_dropout;
        options.autotune = autotune;
        return options;
    }

    // Trains while `favourite`, a candidate of the plan, runs twice as fast as the others.
    RunReport tuned(int favourite) const {
        const auto reports = train_ranks(plan, problem.dataset(), options(2), [&](int /*rank*/) {
            auto clock = std::make_shared<TickingClock>();
            RankTools tools;
            tools.clock = clock;
            tools.hooks.candidate = [=](int candidate) { clock->tick = candidate == favourite ? 0.5 : 1; };
            return tools;
        });
        for (const RunReport& report : reports) EXPECT_EQ(report.chosen, reports.front().chosen);
        return reports.front();
    }

    std::vector<double> serial_curve() const {
        const SerialSettings settings = problem.serial_settings(options(0).weight_decay);
        const Parameters initial = initial_parameters(problem.serial(), options(0).seed);
        std::vector<double> curve;
        for (const SerialEpoch& epoch : train(problem.serial(), settings, initial, epochs)) {
            curve.push_back(epoch.before.loss);
        }
        return curve;
    }

    const TestProblem problem{planted(61, 8, 13, 5, 4), GetParam()};
    const exec::GraphCounts counts{problem.dataset().graph(), problem.dataset().subset()};
    const Plan plan = full_plan();
};

void expect_curve(const RunReport& report, const std::vector<double>& curve) {
    ASSERT_EQ(report.epochs.size(), curve.size());
    for (std::size_t e = 0; e < curve.size(); ++e) {
        ASSERT_TRUE(close(report.epochs[e].loss, curve[e], 1e-4)) << "epoch " << e + 1;
    }
}

void expect_as_predicted(const RunReport& report) {
    EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
    EXPECT_TRUE(bytes_as_predicted(report.steps));
    EXPECT_TRUE(bytes_as_predicted(report.evaluation));
    EXPECT_EQ(report.measured.peak_bytes_per_rank, report.predicted.peak_bytes_per_rank);
}

TEST_P(AutotuneSchemes, WhicheverWinsTheLossCurveIsTheSame) {
    std::set<std::string> grids;
    for (const Candidate& candidate : plan.candidates) {
        grids.insert(scheme_of(candidate.configuration) + candidate.configuration.grid.text());
    }
    ASSERT_GE(plan.candidates.size(), 3U);
    ASSERT_GE(grids.size(), 2U) << "candidates of one grid only: nothing is tested";
    const std::vector<double> curve = serial_curve();
    for (int favourite = 0; favourite < static_cast<int>(plan.candidates.size()); ++favourite) {
        const Candidate& candidate = plan.candidates[static_cast<std::size_t>(favourite)];
        SCOPED_TRACE(fmt::format("candidate {}: {} on {}", favourite, scheme_of(candidate.configuration),
                                 candidate.configuration.grid.text()));
        const RunReport report = tuned(favourite);
        EXPECT_EQ(report.tried.size(), plan.candidates.size());
        EXPECT_EQ(report.chosen, favourite);
        EXPECT_EQ(scheme_of(report.configuration), scheme_of(candidate.configuration));
        EXPECT_EQ(report.configuration.grid, candidate.configuration.grid);
        EXPECT_EQ(report.predicted.total_bytes, candidate.predicted.total_bytes);
        expect_as_predicted(report);
        expect_curve(report, curve);

        Plan single = plan;
        single.candidates = {candidate};
        const RunReport alone = train_ranks(single, problem.dataset(), options(0)).front();
        expect_as_predicted(alone);
        expect_curve(alone, curve);
        EXPECT_EQ(report.measured.total_bytes, alone.measured.total_bytes);
        EXPECT_EQ(report.epochs.back().judgement.accuracy.test, alone.epochs.back().judgement.accuracy.test);
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, AutotuneSchemes,
                         ::testing::Values(Network{{16}, true, 0, 0}, Network{{16}, false, 0.25F, 0.25F}),
                         [](const auto& instance) { return instance.param.dropout > 0 ? "Dropout" : "Plain"; });

// Two estimates of the same graph, of which only sizes are known: pruned rows are those of no graph.
class EstimatedRows : public ::testing::Test {
protected:
    // A plan made from sizes whose fastest candidates compute only the rows that a tenth of the vertices are said to
    // need.
    Plan plan_from_sizes(bool only_pruned) const {
        const UniformStats sizes(problem.dataset().vertices(), problem.dataset().nonzeros(),
                                 problem.dataset().graph().symmetric, 0.1);
        Problem asked = problem.planner_problem(sizes, ranks);
        asked.record.graph.exact = false;
        const SelectResult result = select(asked, test_machine());
        if (!result) throw Error(result.code, result.message);
        Plan plan = result.selection->plan;
        if (only_pruned) {
            std::erase_if(plan.candidates, [](const Candidate& c) { return !c.configuration.loss_rows; });
        }
        return plan;
    }

    const TestProblem problem{planted(61, 2, 13, 5, 4), {{16}, false, 0, 0}};
    train::TrainOptions options;
};

TEST_F(EstimatedRows, AreRefusedWhenEveryCandidatePrunesThem) {
    const Plan plan = plan_from_sizes(true);
    ASSERT_FALSE(plan.candidates.empty()) << "the planner pruned nothing: nothing is tested";
    try {
        train_ranks(plan, problem.dataset(), options);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch);
        EXPECT_NE(std::string(error.what()).find("estimated to need"), std::string::npos) << error.what();
    }
}

TEST_F(EstimatedRows, AreSkippedWhenAnotherCandidateComputesAll) {
    Plan plan = plan_from_sizes(true);
    ASSERT_FALSE(plan.candidates.empty());
    const UniformStats sizes(problem.dataset().vertices(), problem.dataset().nonzeros(),
                             problem.dataset().graph().symmetric, 1);
    const SelectResult whole = select(problem.planner_problem(sizes, ranks), test_machine());
    ASSERT_TRUE(whole) << whole.message;
    plan.candidates.resize(1);
    plan.candidates.push_back(whole.selection->plan.candidates.front());
    ASSERT_FALSE(plan.candidates.back().configuration.loss_rows);
    options.epochs = 3;
    const RunReport report = train_ranks(plan, problem.dataset(), options).front();
    EXPECT_EQ(report.chosen, 1);
    expect_as_predicted(report);
}

}  // namespace
}  // namespace gnnplan::testing
