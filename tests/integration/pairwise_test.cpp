// The table of switches shows every pair of them in every combination.
#include "tests/integration/full_space_runs.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gnnplan::testing {
namespace {

TEST(PairwiseSwitches, ShowEveryPairInEveryCombination) {
    constexpr std::array<bool Switches::*, 7> all = {&Switches::needed_rows,  &Switches::overlap, &Switches::loss_rows,
                                                     &Switches::permutation,  &Switches::parts,   &Switches::factored,
                                                     &Switches::source_panels};
    for (const auto a : all) {
        for (const auto b : all) {
            std::set<std::pair<bool, bool>> shown;
            for (const Switches& row : pairwise_switches) shown.emplace(row.*a, row.*b);
            EXPECT_EQ(shown.size(), a == b ? 2U : 4U);
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
