#include "planner/cost/predict.hpp"
#include "planner/cost/time.hpp"
#include "tests/planner/lower/configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/traffic.hpp>

#include <numeric>

namespace gnnplan::cost {
namespace {

Machine machine(int ranks_per_node) {
    return {"m",  "made up", false, ranks_per_node, std::int64_t{1} << 40, {1e-6, 1e9}, {1e-4, 1e7}, {{8, 1e9}},
            1e11, 1e10,      0};
}

// Four ranks in a row; an exchange of 1 x 4 messages of known sizes.
Schedule redistribution() {
    return {
        {1, 4, 1},
        {{"a", Role::transient, DType::f32, 8, 4, layout_c()}, {"b", Role::transient, DType::f32, 8, 4, layout_r()}},
        {{"step", Phase::epoch, RedistributeStep{0, 1}}}};
}

TEST(StepTime, AlphaBetaOnEachLevel) {
    const UniformStats graph(8, 8, true);
    const Schedule s = redistribution();
    // Every rank sends three messages of 2 rows x 1 column x 4 bytes and stages what it receives, 24 bytes twice;
    // it reads and writes its own 32 bytes.
    const double streamed = (32 + 32 + 2 * 24) / 1e10;
    const double within = step_seconds(s, s.steps[0], graph, machine(4));
    EXPECT_NEAR(within, streamed + 3 * 1e-6 + 24 / 1e9, 1e-12);
    // Two ranks a node: one neighbour within, two across.
    const double across = step_seconds(s, s.steps[0], graph, machine(2));
    EXPECT_NEAR(across, streamed + 1e-6 + 8 / 1e9 + 2 * 1e-4 + 16 / 1e7, 1e-12);
}

TEST(StepTime, SparseWorkAtTheRateOfItsSlice) {
    RankWork work;
    work.sparse_flops = 2e9;
    work.sparse_width = 8;
    EXPECT_DOUBLE_EQ(compute_seconds(work, machine(1)), 2.0);
    work.dense_flops = 1e11;
    work.streamed_bytes = 10'000'000'000;
    EXPECT_DOUBLE_EQ(compute_seconds(work, machine(1)), 4.0);
}

TEST(Predict, AnEpochIsTheSumOfItsSteps) {
    const UniformStats graph(100, 700, true);
    for (const auto& orders : enumerate::all_orders(2)) {
        const Schedule s = lower::lowered(orders, {13, 7, 5}, 4, 2);
        const Prediction p = predict(s, graph, machine(4));
        ASSERT_EQ(p.step_seconds.size(), s.steps.size());
        double epoch = 0;
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < s.steps.size(); ++i) {
            EXPECT_GE(p.step_seconds[i], 0);
            if (s.steps[i].phase != Phase::epoch) continue;
            epoch += p.step_seconds[i];
            for (const RankTraffic& t : traffic_of(s, s.steps[i])) bytes += t.sent_bytes;
        }
        EXPECT_DOUBLE_EQ(p.epoch_seconds, epoch);
        EXPECT_EQ(p.total_bytes, bytes);
        EXPECT_TRUE(p.estimate);
    }
}

TEST(Predict, EvaluationIsNotPartOfTheEpoch) {
    const UniformStats graph(100, 700, true);
    Schedule s = lower::lowered(enumerate::all_orders(2)[0], {13, 7, 5}, 4, 4);
    const Prediction with = predict(s, graph, machine(4));
    std::erase_if(s.steps, [](const Step& step) { return step.phase == Phase::evaluation; });
    const Prediction without = predict(s, graph, machine(4));
    EXPECT_DOUBLE_EQ(with.epoch_seconds, without.epoch_seconds);
    EXPECT_EQ(with.total_bytes, without.total_bytes);
}

}  // namespace
}  // namespace gnnplan::cost
