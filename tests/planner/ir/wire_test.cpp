// Messages in bfloat16 have half the bytes, wherever they may.
#include "tests/planner/lower/full_configurations.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace gnnplan {
namespace {

constexpr std::int64_t vertices = 1000;

Schedule in_bf16(Schedule schedule) {
    set_wire(schedule, Wire::bfloat16);
    return schedule;
}

class HalfTheBytes : public ::testing::TestWithParam<int> {};

// The pairwise reduce-scatter moves as many elements as the ring; a rank of it sends what the others own, though.
TEST_P(HalfTheBytes, OfWhatMayBeRounded) {
    const UniformStats graph(vertices, 20'000, true, 0.5);
    int halved = 0;
    for (const lower::FullCase& full : lower::full_cases({GetParam()}, 3)) {
        SCOPED_TRACE(full.text());
        const Schedule exact = lower::lowered(full, {12, 8, 5}, graph);
        const std::vector<Schedule> wires{exact, in_bf16(exact)};
        for (std::size_t i = 0; i < wires[0].steps.size(); ++i) {
            const Step& step = wires[1].steps[i];
            const bool narrows = wire_of(step.operation) == Wire::bfloat16;
            EXPECT_EQ(narrows, may_narrow(wires[1], step)) << step.name;
            EXPECT_FALSE(narrows && step.phase == Phase::setup) << step.name;
            std::int64_t before = 0, now = 0;
            for (const RankTraffic& rank : traffic_of(wires[0], wires[0].steps[i], graph)) before += rank.sent_bytes;
            for (const RankTraffic& rank : traffic_of(wires[1], step, graph)) now += rank.sent_bytes;
            const auto* product = product_of(step.operation);
            if (product != nullptr && gathers_matrix(wires[1].grid, tensor_of(wires[1], product->matrix))) continue;
            EXPECT_EQ(narrows ? 2 * now : now, before) << step.name;
            halved += narrows && now > 0 ? 1 : 0;
        }
    }
    EXPECT_EQ(halved > 0, GetParam() > 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, HalfTheBytes, ::testing::Values(1, 2, 4, 6));

}  // namespace
}  // namespace gnnplan
