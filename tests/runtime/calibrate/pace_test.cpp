#include "runtime/calibrate/pace.hpp"
#include "runtime/calibrate/calibrate.hpp"
#include "runtime/comm/self.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace gnnplan::calibrate {
namespace {

using ::testing::ElementsAre;

TEST(Pace, HurriesWhenTimeIsShort) {
    const Effort effort{0.1, 3};
    EXPECT_EQ(hurried(effort, 60, 100).runs, 3);
    EXPECT_EQ(hurried(effort, 60, 100).seconds, 0.1);
    EXPECT_EQ(hurried(effort, 10, 100).runs, 1);
    EXPECT_DOUBLE_EQ(hurried(effort, 10, 100).seconds, 0.05);
    EXPECT_EQ(hurried(effort, -5, 100).seconds, 0);
}

TEST(Pace, WhatIsNeededComesFirstAndTheRestIsSpread) {
    const std::vector<std::size_t> order = order_of_need({false, true, false, false, true, false, false, false});
    EXPECT_THAT(std::vector(order.begin(), order.begin() + 2), ElementsAre(1, 4));
    EXPECT_THAT(std::vector(order.begin() + 2, order.end()), ::testing::UnorderedElementsAre(0, 2, 3, 5, 6, 7));
    for (std::size_t i = 3; i < order.size(); ++i) EXPECT_GT(order[i] > order[i - 1] ? order[i] - order[i - 1] : 2, 1U);
    EXPECT_THAT(order_of_need({true, true}), ElementsAre(0, 1));
    EXPECT_THAT(order_of_need({false}), ElementsAre(0));
    EXPECT_TRUE(order_of_need({}).empty());
}

TEST(Pace, SaysHowLongItTakes) {
    EXPECT_EQ(seconds_left(10, 20, 60, 0), 20);
    EXPECT_EQ(seconds_left(10, 20, 600, 60), 50);  // the limit comes first
    EXPECT_EQ(seconds_left(70, 20, 60, 60), 0);
    EXPECT_EQ(seconds_left(1, 0, 60, 60), 60);
}

// Each look at it takes a while, as on a machine where everything is slow.
class SlowClock final : public measure::Clock {
public:
    double now() override { return now_ += 0.1; }

private:
    double now_ = 0;
};

TEST(Pace, QuickStopsAtItsLimitButForWhatFitsNeed) {
    comm::SelfCommunicator self;
    SlowClock clock;
    Scope scope = quick_scope(1 << 16);
    scope.effort = {0, 3};
    scope.pilot_every = 1e6;
    EXPECT_EQ(scope.limit, 60);
    const auto device = kernels::host_device(kernels::cpu_table());
    const Setting setting{self, clock, *device, scope.effort};
    const Nodes nodes = find_nodes(self, 0);
    const auto counts = [&](double limit) {
        scope.limit = limit;
        const Measured measured =
            measure_all(setting, nodes, scope, [](const std::string&, std::size_t, std::size_t) {});
        EXPECT_EQ(measured.left_out == 0, limit > 300) << limit;
        std::map<std::string, int> count;
        for (const Sample& sample : measured.samples) ++count[sample.what];
        EXPECT_TRUE(std::ranges::is_sorted(measured.samples, {}, [](const Sample& sample) {
            return sample.what.starts_with("gemm");  // in the order they are listed: products after all else
        }));
        return count;
    };
    auto all = counts(1e6);
    auto few = counts(1e-6);
    EXPECT_EQ(all.size(), few.size()) << "something of every kind is measured";
    EXPECT_LT(few["gemm.forward"], all["gemm.forward"]);
    EXPECT_LT(few["spmm"], all["spmm"]);
    EXPECT_EQ(few["spmm.add"], 3);
    EXPECT_EQ(few["spmm.pass"], 2 * 3);
    EXPECT_EQ(few["loss"], 2);
    auto some = counts(200);
    EXPECT_GT(some["gemm.forward"] + some["spmm"], few["gemm.forward"] + few["spmm"]);
}

}  // namespace
}  // namespace gnnplan::calibrate
