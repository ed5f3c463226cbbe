// The paper's omissions (docs/cost-model.md, "What an executor cannot leave out"): how many configurations need a
// mask moved, a mask delayed, or an operand moved, and by how much the executed units then differ from the paper's.
#include "tests/planner/lower/configurations.hpp"

#include "planner/cost/executed_units.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gnnplan::lower {
namespace {

using Ids = std::set<std::int64_t>;

struct Needs {
    Ids mask_moved, mask_delayed, operand_moved;
};

bool has_step(const Schedule& schedule, const std::string& prefix, const std::string& suffix) {
    for (const Step& step : schedule.steps) {
        if (step.name.starts_with(prefix) && step.name.ends_with(suffix)) return true;
    }
    return false;
}

// A mask is delayed when G^l is redistributed (".input") before its mask is applied.
bool delays_a_mask(const Schedule& schedule, int layers) {
    for (int l = 1; l < layers; ++l) {
        std::size_t input = schedule.steps.size(), mask = 0;
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            if (schedule.steps[i].name == "backward." + std::to_string(l) + ".input") input = i;
            if (schedule.steps[i].name == "backward." + std::to_string(l) + ".mask") mask = i;
        }
        if (input < mask) return true;
    }
    return false;
}

// Widths equal, so that an operand move is never avoided by its mask; `operand.H` in the forward,
// ".operand.G" or ".operand.H" in the backward pass.
Needs needs_of(int layers, const std::vector<std::int64_t>& widths) {
    Needs needs;
    for (const auto& orders : enumerate::all_orders(layers)) {
        const std::int64_t id = paper_id(orders.forward, orders.backward);
        const Schedule schedule = lowered(orders, widths, 4, 4);
        if (has_step(schedule, "mask.", ".redistribute")) needs.mask_moved.insert(id);
        if (delays_a_mask(schedule, layers)) needs.mask_delayed.insert(id);
        const bool in_backward =
            has_step(schedule, "backward.", ".operand.G") || has_step(schedule, "backward.", ".operand.H");
        if (has_step(schedule, "operand.", "") || in_backward) needs.operand_moved.insert(id);
    }
    return needs;
}

// Widths that shrink fast: where an operand must move, G^l is always the cheaper one, and no mask travels with H.
const std::vector<std::int64_t> shrinking = {4096, 256, 16, 4, 1};

std::vector<std::int64_t> first(std::size_t count) {
    return {shrinking.begin(), shrinking.begin() + static_cast<long>(count)};
}

TEST(Section5, TwoLayers) {
    const Needs needs = needs_of(2, first(3));
    EXPECT_EQ(needs.mask_moved, (Ids{6, 9}));
    EXPECT_EQ(needs.mask_delayed, (Ids{2, 13}));
    EXPECT_TRUE(needs.operand_moved.empty());
}

TEST(Section5, ThreeLayers) {
    const Needs needs = needs_of(3, first(4));
    EXPECT_EQ(needs.mask_moved, (Ids{12, 13, 18, 19, 22, 26, 30, 33, 37, 41, 44, 45, 50, 51}));
    EXPECT_EQ(needs.mask_delayed.size(), 16U);
    EXPECT_EQ(needs.operand_moved, (Ids{36, 37, 44, 45}));
}

TEST(Section5, FourLayers) {
    const Needs needs = needs_of(4, first(5));
    EXPECT_EQ(needs.mask_moved.size(), 78U);
    EXPECT_EQ(needs.mask_delayed.size(), 92U);
    EXPECT_EQ(needs.operand_moved.size(), 32U);
}

TEST(Section5, MovingTheInputBringsItsMaskAlong) {
    // Growing widths: H^1 is narrower than G^2, so H^1 moves, and the mask of layer 1 is taken from the moved copy.
    const std::vector<std::int64_t> growing = {8, 32, 320, 16};
    const auto orders = enumerate::all_orders(3)[44];
    const Schedule schedule = lowered(orders, growing, 4, 4);
    EXPECT_TRUE(has_step(schedule, "operand.H1", ""));
    EXPECT_FALSE(has_step(schedule, "mask.", ".redistribute"));
}

TEST(ExecutedUnits, EqualThePapersButForSection5) {
    for (const int layers : {1, 2, 3, 4}) {
        const auto widths = first(static_cast<std::size_t>(layers) + 1);
        const Needs needs = needs_of(layers, widths);
        for (const auto& orders : enumerate::all_orders(layers)) {
            const std::int64_t id = paper_id(orders.forward, orders.backward);
            const Units paper = enumerate::paper_units(orders, widths);
            const Units executed = cost::executed_units(lowered(orders, widths, 4, 4));
            EXPECT_EQ(executed.sparse, paper.sparse) << layers << " layers, id " << id;
            const bool more = needs.mask_moved.contains(id) || needs.operand_moved.contains(id);
            EXPECT_EQ(executed.redistribution > paper.redistribution, more) << layers << " layers, id " << id;
            if (!more) {
                EXPECT_EQ(executed.redistribution, paper.redistribution) << layers << " layers, id " << id;
            }
        }
    }
}

TEST(ExecutedUnits, AMaskCountsOneThirtySecond) {
    const std::vector<std::int64_t> widths = {602, 128, 41};
    const auto orders = enumerate::all_orders(2)[6];
    EXPECT_EQ(cost::executed_units(lowered(orders, widths, 8, 8)).redistribution,
              enumerate::paper_units(orders, widths).redistribution + 128.0 / 32);
}

}  // namespace
}  // namespace gnnplan::lower
