// The front found layer by layer is that of the list.
#include "planner/enumerate/units_front.hpp"

#include "planner/enumerate/units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gnnplan::enumerate {
namespace {

using Pairs = std::set<std::pair<double, double>>;
using Widths = std::vector<std::int64_t>;

Pairs listed_front(const Widths& widths) {
    std::vector<Units> all;
    for (const OrderPair& orders : all_orders(static_cast<int>(widths.size()) - 1)) {
        all.push_back(paper_units(orders, widths));
    }
    const std::vector<bool> on_front = pareto_front(all);
    Pairs pairs;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (on_front[i]) pairs.emplace(all[i].redistribution, all[i].sparse);
    }
    return pairs;
}

// Checks members one by one, then returns their units.
Pairs found_front(const Widths& widths) {
    Pairs pairs;
    for (const FrontMember& member : paper_front(widths)) {
        EXPECT_EQ(member.orders.forward.size(), widths.size() - 1);
        EXPECT_EQ(paper_units(member.orders, widths), member.units);
        EXPECT_TRUE(pairs.emplace(member.units.redistribution, member.units.sparse).second) << "twice";
    }
    return pairs;
}

class FrontOfWidths : public ::testing::TestWithParam<Widths> {};

TEST_P(FrontOfWidths, IsThatOfTheList) { EXPECT_EQ(found_front(GetParam()), listed_front(GetParam())); }

INSTANTIATE_TEST_SUITE_P(UpToSixLayers, FrontOfWidths,
                         ::testing::Values(Widths{5, 3}, Widths{3, 5}, Widths{602, 128, 41}, Widths{128, 256, 172},
                                           Widths{7, 7, 7, 7}, Widths{100, 7, 93, 11}, Widths{64, 32, 48, 8, 40},
                                           Widths{602, 128, 128, 128, 128, 41}, Widths{13, 7, 29, 3, 17, 23},
                                           Widths{31, 17, 5, 43, 29, 11, 2}, Widths{128, 128, 128, 128, 128, 128, 128},
                                           Widths{1, 2, 4, 8, 16, 32, 64}, Widths{64, 32, 16, 8, 4, 2, 1}));

// Beyond the list: ascending in one unit, descending in the other, each pair of units as counted.
TEST(Front, OfAHundredLayers) {
    Widths widths(101, 128);
    widths.front() = 602;
    widths.back() = 41;
    const std::vector<FrontMember> front = paper_front(widths);
    ASSERT_GT(front.size(), 1U);
    for (std::size_t i = 0; i < front.size(); ++i) {
        EXPECT_EQ(paper_units(front[i].orders, widths), front[i].units);
        if (i == 0) continue;
        EXPECT_GT(front[i].units.redistribution, front[i - 1].units.redistribution);
        EXPECT_LT(front[i].units.sparse, front[i - 1].units.sparse);
    }
    // As few sparse units as any order needs: the narrower side of every product, no product made again.
    double least = 2 * 128.0 * 98 + 128 + 128;
    least += 41 + std::min(41, 128);
    EXPECT_EQ(front.back().units.sparse, least);
}

}  // namespace
}  // namespace gnnplan::enumerate
