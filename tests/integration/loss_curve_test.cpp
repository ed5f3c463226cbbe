// One seed without dropout: every configuration has the loss curve of the serial reference, and it falls.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/train_plan.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/sampled.hpp"

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

train::TrainOptions curve_options(double learning_rate, double weight_decay) {
    train::TrainOptions options;
    options.epochs = curve_epochs;
    options.learning_rate = learning_rate;
    options.weight_decay = weight_decay;
    options.eval_every = options.autotune = 0;
    return options;
}

void expect_curve(const RunReport& report, const std::vector<SerialEpoch>& serial) {
    ASSERT_EQ(report.epochs.size(), serial.size());
    for (std::size_t e = 0; e < serial.size(); ++e)
        ASSERT_TRUE(close(report.epochs[e].loss, serial[e].before.loss, 1e-4)) << "epoch " << e + 1;
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

// The optimiser is the plan's: SGD remembers nothing or one matrix like each parameter, and memory says so.
TEST(LossCurve, OfEachOptimiserIsTheSerialOneAndSoIsItsMemory) {
    const TestProblem problem(planted(61, 8, 13, 5, 4), {{16}, true, 0, 0});
    const exec::GraphCounts counts(problem.dataset().graph());
    train::TrainOptions options;
    options.epochs = curve_epochs;
    options.eval_every = options.autotune = 0;
    std::map<Optimiser, std::int64_t> peak;
    for (const auto& [optimiser, momentum] : {std::pair(Optimiser::adam, 0.0),
                                              {Optimiser::sgd, 0.0},
                                              {Optimiser::momentum, 0.75},
                                              {Optimiser::adamw, 0.0},
                                              {Optimiser::rmsprop, 0.0}}) {
        SCOPED_TRACE(rule_of(optimiser).name);
        SerialSettings settings = problem.serial_settings(options.weight_decay);
        options.learning_rate = optimiser == Optimiser::rmsprop ? 0.01 : 0.5;  // its first step is ten times as long
        settings.learning_rate = options.learning_rate;
        settings.optimiser = optimiser;
        settings.momentum = options.momentum = momentum;
        const auto serial = train(problem.serial(), settings, initial_parameters(problem.serial(), 1), curve_epochs);
        Problem asked = problem.planner_problem(counts, 4);
        asked.record.run.optimiser = optimiser;
        asked.record.run.momentum = momentum;
        SelectOptions pins;
        pins.scheme = "rdm";
        const SelectResult result = select(asked, test_machine(), pins);
        ASSERT_TRUE(result) << result.message;
        const auto reports = train_ranks(result.selection->plan, problem.dataset(), options);
        expect_curve(reports[0], serial);
        peak[optimiser] = result.selection->plan.candidates.front().predicted.peak_bytes_per_rank;
        EXPECT_EQ(reports[0].measured.peak_bytes_per_rank, peak[optimiser]);
    }
    EXPECT_LT(peak[Optimiser::sgd], peak[Optimiser::momentum]);
    EXPECT_LT(peak[Optimiser::momentum], peak[Optimiser::adam]);
    EXPECT_EQ(peak[Optimiser::rmsprop], peak[Optimiser::momentum]);
    EXPECT_EQ(peak[Optimiser::adamw], peak[Optimiser::adam]);
}

TEST(LossCurve, DecaysTheParametersThatAreSaid) {
    const TestProblem problem(planted(61, 8, 13, 5, 4), {{16}, true, 0, 0});
    const exec::GraphCounts counts(problem.dataset().graph());
    Problem asked = problem.planner_problem(counts, 4);
    const SelectResult result = select(asked, test_machine(), {});
    ASSERT_TRUE(result) << result.message;
    const auto strengths = [](const std::string& name) {  // of each way, as PyTorch's parameter groups would have them
        const bool weight = name.ends_with("weight"), first = name == "layers.1.weight";
        return std::map<std::string, double>{{"first", first ? 0.25 : 0},
                                             {"weights", weight ? 0.25 : 0},
                                             {"all", 0.25},
                                             {"weight=0.5,layers.2.weight=0.125", first    ? 0.5
                                                                                  : weight ? 0.125
                                                                                           : 0},
                                             {"bias=1", weight ? 0 : 1}};
    };
    std::set<double> last;
    for (const auto& [text, unused] : strengths("")) {
        SCOPED_TRACE(text);
        train::TrainOptions options = curve_options(0.05, 0.25);
        options.decay = exec::read_decay(text);
        SerialSettings settings = problem.serial_settings(0);
        settings.learning_rate = options.learning_rate;
        settings.decay = [&, way = text](const Parameter& parameter) { return strengths(parameter.name).at(way); };
        const auto serial = train(problem.serial(), settings, initial_parameters(problem.serial(), 1), curve_epochs);
        const auto reports = train_ranks(result.selection->plan, problem.dataset(), options);
        expect_curve(reports[0], serial);
        last.insert(reports[0].epochs.back().loss);
    }
    EXPECT_EQ(last.size(), 5U);  // every way makes a difference
}

TEST(LossCurve, FollowsTheScheduleOfTheLearningRate) {
    const TestProblem problem(planted(61, 8, 13, 5, 4), {{16}, true, 0, 0});
    const exec::GraphCounts counts(problem.dataset().graph());
    for (const Optimiser optimiser : {Optimiser::adamw, Optimiser::sgd}) {
        for (const char* text : {"step:2:0.25", "warmup:4", "cosine:7"}) {
            SCOPED_TRACE(text);
            train::TrainOptions options = curve_options(0.5, 0.25);
            options.schedule = train::read_schedule(text);
            SerialSettings settings = problem.serial_settings(options.weight_decay);
            settings.learning_rate = options.learning_rate;
            settings.optimiser = optimiser;
            train::RateCourse course(options.schedule, options.learning_rate);
            for (int epoch = 0; epoch < curve_epochs; ++epoch, course.add(1))
                settings.rate_factors.push_back(course.factor());
            const auto serial =
                train(problem.serial(), settings, initial_parameters(problem.serial(), 1), curve_epochs);
            Problem asked = problem.planner_problem(counts, 4);
            asked.record.run.optimiser = optimiser;
            const SelectResult result = select(asked, test_machine(), {});
            ASSERT_TRUE(result) << result.message;
            const auto reports = train_ranks(result.selection->plan, problem.dataset(), options);
            expect_curve(reports[0], serial);
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
