#include "planner/enumerate/memoization.hpp"
#include "planner/enumerate/replication.hpp"
#include "planner/enumerate/units.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>

#include <random>

namespace gnnplan::enumerate {
namespace {

std::vector<bool> by_definition(const std::vector<Units>& all) {
    std::vector<bool> front;
    for (const Units& u : all) {
        bool dominated = false;
        for (const Units& v : all) {
            dominated |= v.redistribution <= u.redistribution && v.sparse <= u.sparse && v != u;
        }
        front.push_back(!dominated);
    }
    return front;
}

TEST(Pareto, EqualsTheDefinitionWithManyTies) {
    std::mt19937 random(1);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<Units> units(static_cast<std::size_t>(trial % 40));
        for (Units& u : units) u = {static_cast<double>(random() % 6), static_cast<double>(random() % 6)};
        EXPECT_EQ(pareto_front(units), by_definition(units)) << "trial " << trial;
    }
}

TEST(Replication, DivisorsOfTheRanks) {
    EXPECT_EQ(replications(12), (std::vector<int>{1, 2, 3, 4, 6, 12}));
    EXPECT_EQ(replications(1), std::vector<int>{1});
    EXPECT_NO_THROW(check_replication(3, 12));
    for (const int bad : {0, -1, 5, 24}) EXPECT_THROW(check_replication(bad, 12), Error) << bad;
    EXPECT_THROW(check_replication(1, 0), Error);
}

TEST(Memoization, KeepsTheAggregationWhereTheGradientMeetsItInR) {
    const auto kept = [](const char* forward, const char* backward) {
        Configuration c;
        c.forward = parse_orders(forward);
        c.operands = paper_operands(c.forward, parse_orders(backward), {602, 128, 41});
        return kept_products(c);
    };
    EXPECT_EQ(kept("SS", "SS"), (std::vector<std::string>{"T1", "T2"}));
    EXPECT_EQ(kept("DS", "DS"), std::vector<std::string>{"T2"});
    EXPECT_TRUE(kept("DD", "DD").empty());
    // Backward DS leaves G^1 in C only: T^1 cannot be used, H^0 is stored in R as well.
    EXPECT_EQ(kept("SS", "DS"), std::vector<std::string>{"T2"});
}

}  // namespace
}  // namespace gnnplan::enumerate
