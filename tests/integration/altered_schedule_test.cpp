// The checks of the other tests can fail: a schedule altered after it was predicted, and values that are slightly off.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "runtime/deploy/match.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/expectations.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/integration/train_plan.hpp"

namespace gnnplan::testing {
namespace {

class AlteredSchedule : public ::testing::Test {
protected:
    const TestProblem problem{random_directed(23, 4, 7, 5, 1), {{6}, true, 0, 0}};
    const TestProblem wider{random_directed(23, 4, 7, 5, 1), {{7}, true, 0, 0}};  // the hidden width is one more
    const exec::GraphCounts counts{problem.dataset().graph()};
    const Candidate predicted = configurations(problem, counts, 4, 2)[10];
    const Candidate altered = configurations(wider, counts, 4, 2)[10];
};

TEST_F(AlteredSchedule, OneOtherWidthFailsTheByteTest) {
    const auto others = run_schedule(wider, altered.schedule, 1);
    EXPECT_TRUE(bytes_as_predicted(altered.schedule, others));
    const auto result = bytes_as_predicted(predicted.schedule, others);
    EXPECT_FALSE(result);
    EXPECT_NE(std::string(result.message()).find("predicted to send"), std::string::npos) << result.message();
}

TEST_F(AlteredSchedule, OneOtherWidthFailsTheMemoryTest) {
    auto others = run_schedule(wider, altered.schedule, 1);
    EXPECT_TRUE(peaks_as_predicted(others));
    for (std::size_t rank = 0; rank < others.size(); ++rank) {
        others[rank].predicted_peak = plan_memory(predicted.schedule, counts, static_cast<int>(rank)).peak_bytes;
    }
    EXPECT_FALSE(peaks_as_predicted(others));
}

TEST_F(AlteredSchedule, APlanWhosePredictionIsNotItsSchedulesIsRefused) {
    const Problem asked = problem.planner_problem(counts, 4);
    EXPECT_NO_THROW(check_predicted_bytes(make_plan(asked, test_machine(), {predicted})));
    Candidate mixed = predicted;
    mixed.schedule = altered.schedule;
    EXPECT_THROW(check_predicted_bytes(make_plan(asked, test_machine(), {mixed})), Error);
}

TEST_F(AlteredSchedule, ATensorThatNoLongerFitsItsStepsIsInvalid) {
    Schedule schedule = predicted.schedule;
    EXPECT_NO_THROW(validate(schedule));
    for (const Step& step : predicted.schedule.steps) {
        const auto* move = std::get_if<RedistributeStep>(&step.operation);
        if (move == nullptr) continue;
        schedule = predicted.schedule;
        schedule.tensors[static_cast<std::size_t>(move->out)].columns += 1;
        EXPECT_THROW(validate(schedule), Error) << step.name;
    }
}

// check_values must say that these are wrong.
void expect_refused(const TestProblem& problem, const std::vector<RankRun>& wrong, const Expected& expected) {
    ::testing::TestPartResultArray failures;
    {
        const ::testing::ScopedFakeTestPartResultReporter reporter(
            ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
        check_values(problem, wrong, expected);
    }
    EXPECT_GT(failures.size(), 0);
}

class AlteredValues : public AlteredSchedule {
protected:
    void expect_refused(const std::vector<RankRun>& wrong) { testing::expect_refused(problem, wrong, expected); }

    const Expected expected = expect_of(problem, 2);
    std::vector<RankRun> runs = run_schedule(problem, predicted.schedule, 2);
};

TEST_F(AlteredValues, AreSeen) {
    check_values(problem, runs, expected);  // as run, they pass
    auto wrong = runs;
    wrong[3].epochs[1].loss *= 1.001;
    expect_refused(wrong);
    wrong = runs;
    wrong[2].epochs[0].weight_gradient[0][5] += 1e-3F;
    expect_refused(wrong);
    wrong = runs;
    wrong[1].epochs[1].bias_gradient[1][0] += 1e-3F;
    expect_refused(wrong);
    wrong = runs;
    wrong[0].epochs[0].weight[1][0] += 1e-3F;
    expect_refused(wrong);
    wrong = runs;
    wrong[0].epochs[1].bias[0][2] += 1e-3F;
    expect_refused(wrong);
    wrong = runs;
    wrong[0].found[2] += 1;
    expect_refused(wrong);
    wrong = runs;
    wrong[0].valid_loss *= 1.01;
    expect_refused(wrong);
}

// A model that weighs edges, on 2x2 ranks. Steps that are altered still fit each other.
class AlteredWeights : public ::testing::Test {
protected:
    static TestProblem problem_of(const char* model, int heads, float dropout = 0) {
        Network network{{6}, true, dropout, 0, {true, Normalisation::none}, {}, 0.4F};
        network.model.name = model;
        network.model.heads = heads;
        if (network.model.name == "gcnii")
            network.model.pre = {6}, network.model.pre_activation = true, network.model.jk = JumpingKnowledge::last;
        return {random_directed(23, 4, 7, 5, 1), network};
    }
    static Schedule schedule_of(const TestProblem& problem) {
        const exec::GraphCounts counts(problem.dataset().graph());
        const search::Space space = space_of(problem, counts, 4);
        const Distribution on{Sharing::replicated, {2, 2, 1}};
        const search::Choices choices = search::all_choices(space, on, true).front();
        return lower::lower(space.model, search::configuration_of(frame_of(on, {}), choices), space.shape);
    }
    template <class Change>
    static void expect_seen(const TestProblem& problem, const Change& change) {
        const Expected expected = expect_of(problem, 2);
        Schedule schedule = schedule_of(problem);
        check_values(problem, run_schedule(problem, schedule, 2), expected);
        for (Step& step : schedule.steps) change(step);
        ASSERT_NO_THROW(validate(schedule));
        expect_refused(problem, run_schedule(problem, schedule, 2), expected);
    }
};

TEST_F(AlteredWeights, ASlopeIsSeenInEitherPass) {
    for (const Program program : {Program::attend, Program::attend_back}) {
        expect_seen(problem_of("gat", 3), [&](Step& step) {
            auto* product = std::get_if<SpmmStep>(&step.operation);
            if (product != nullptr && product->program == program) product->attending.slope += 0.02;
        });
    }
}

TEST_F(AlteredWeights, AnotherShareIsSeenInEitherPass) {
    for (const bool backward : {false, true}) {
        expect_seen(problem_of("appnp", 0), [&](Step& step) {
            auto* blend = std::get_if<MapStep>(&step.operation);
            const bool there = (step.origin.pass == Pass::backward) == backward;
            if (blend != nullptr && blend->op == MapOp::blend && there) blend->scale += 0.02;
        });
    }
}

// The first aggregation of the gradient adds all of it, as if nothing had arrived there.
TEST_F(AlteredWeights, ATeleportThatIsLeftOutIsSeen) {
    for (const char* step_name : {"forward.1.hop2.teleport", "backward.2.hop1.teleport"}) {
        expect_seen(problem_of("appnp", 0), [&](Step& step) {
            if (step.name == step_name) std::get<MapStep>(step.operation).scale = 0;
        });
    }
}

// Shares of the first map's result and of its gradient, of W and of the identity, and of the gradient of W.
TEST_F(AlteredWeights, AnotherShareOfAGcniiIsSeen) {
    for (const char* step_name :
         {"forward.2.initial", "backward.2.initial", "backward.1.initial", "mix.W1", "mix.W2.identity", "mix.Y1"}) {
        SCOPED_TRACE(step_name);
        int seen = 0;
        expect_seen(problem_of("gcnii", 0), [&](Step& step) {
            if (step.name == step_name) std::get<MapStep>(step.operation).scale += 0.05, ++seen;
        });
        EXPECT_EQ(seen, 1);
    }
}

// Layers add what stands before layer 1 before its dropout, not what layer 1 reads.
TEST_F(AlteredWeights, AnInitialValueBehindItsDropoutIsSeen) {
    std::optional<TensorId> dropped;
    expect_seen(problem_of("gcnii", 0, 0.5F), [&](Step& step) {
        auto* map = std::get_if<MapStep>(&step.operation);
        if (map != nullptr && map->op == MapOp::copy) dropped = map->out;
        if (step.name == "forward.2.initial") map->operand = dropped;
    });
    EXPECT_TRUE(dropped.has_value());
}

TEST_F(AlteredWeights, DrawsOfAnotherLayerAreSeen) {
    expect_seen(problem_of("gat", 3), [](Step& step) {
        auto* product = std::get_if<SpmmStep>(&step.operation);
        if (product != nullptr && product->attends()) product->attending.layer += 1;
    });
}

TEST_F(AlteredWeights, ValuesOfOtherEdgesAreSeen) {
    expect_seen(problem_of("agnn", 0), [](Step& step) {
        auto* back = std::get_if<EdgeStep>(&step.operation);
        if (back != nullptr && back->op == EdgeOp::softmax_back) std::swap(back->in[0], back->in[1]);
    });
}

}  // namespace
}  // namespace gnnplan::testing
