#include "planner/enumerate/grids.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

#include <algorithm>
#include <set>

namespace gnnplan::enumerate {
namespace {

std::set<std::string> texts(const std::vector<Distribution>& found) {
    std::set<std::string> set;
    for (const Distribution& entry : found) set.insert(scheme_of(entry) + " " + entry.grid.text());
    return set;
}

TEST(Grids, OfFourRanks) {
    EXPECT_EQ(texts(distributions(4, {})),
              (std::set<std::string>{"1d 4x1", "1.5d 1x1x4", "1.5d 2x1x2", "rdm 1x4", "1.5d 1x4", "2d 1x4", "rdm 2x2",
                                     "1.5d 2x2", "2d 2x2", "rdm 1x2x2", "3d 1x2x2"}));
    EXPECT_EQ(texts(distributions(1, {})), std::set<std::string>{"rdm 1x1"});
}

// Every factorisation is there, each scheme on it once, and all hold the ranks.
TEST(Grids, EveryFactorisationOnce) {
    for (const int ranks : {1, 2, 3, 6, 8, 9, 12, 64}) {
        const std::vector<Distribution> found = distributions(ranks, {});
        EXPECT_EQ(texts(found).size(), found.size()) << ranks;
        std::set<std::string> grids;
        for (const Distribution& entry : found) {
            EXPECT_EQ(entry.grid.size(), ranks);
            EXPECT_EQ(distribution_of(scheme_of(entry), entry.grid), entry);
            grids.insert(entry.grid.text());
        }
        std::size_t factorisations = 0;
        for (int x = 1; x <= ranks; ++x) {
            for (int y = 1; x * y <= ranks; ++y) factorisations += ranks % (x * y) == 0 ? 1 : 0;
        }
        EXPECT_EQ(grids.size(), factorisations);
    }
}

TEST(Grids, ThoseAskedFor) {
    EXPECT_EQ(texts(distributions(8, {"1.5d", 2, {}})), (std::set<std::string>{"1.5d 4x2", "1.5d 4x1x2"}));
    EXPECT_EQ(texts(distributions(8, {{}, 4, {}})), (std::set<std::string>{"rdm 2x4", "rdm 1x4x2"}));
    EXPECT_EQ(texts(distributions(8, {"rdm", 1, {}})),
              (std::set<std::string>{"1d 8x1", "1.5d 4x1x2", "1.5d 2x1x4", "1.5d 1x1x8"}));
    EXPECT_EQ(texts(distributions(6, {{}, {}, Grid{3, 2, 1}})),
              (std::set<std::string>{"rdm 3x2", "1.5d 3x2", "2d 3x2"}));
}

TEST(Grids, ThoseThatDoNotExistAreNamed) {
    try {
        distributions(6, {"1d", {}, Grid{3, 2, 1}});
        ADD_FAILURE() << "1d has no grid of 3x2";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("6x1"), std::string::npos) << error.what();
    }
    EXPECT_THROW(distributions(6, {"fft", {}, {}}), Error);
    EXPECT_THROW(distributions(6, {{}, 4, {}}), Error);
    EXPECT_THROW(distributions(6, {{}, {}, Grid{2, 2, 1}}), Error);
}

// Without an end to ask for the grids of the same scheme again.
TEST(Grids, HaveNoCutOfOneRank) {
    EXPECT_THROW(distributions(1, {"cut", {}, {}}), Error);
    EXPECT_EQ(distributions(4, {"cut", {}, {}}).size(), 2U) << "4x1 and 2x2";
    EXPECT_EQ(distributions(4, {{}, {}, {}, true}).size(), distributions(4, {}).size() + 2);
}

}  // namespace
}  // namespace gnnplan::enumerate
