#include "planner/catalog/suggest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> fruit{"apple", "apricot", "pear", "wild-apple"};

TEST(EditDistance, CountsEachKindOfEdit) {
    EXPECT_EQ(edit_distance("", ""), 0);
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(edit_distance("abc", ""), 3);
    EXPECT_EQ(edit_distance("redit", "reddit"), 1);    // insertion
    EXPECT_EQ(edit_distance("redddit", "reddit"), 1);  // deletion
    EXPECT_EQ(edit_distance("raddit", "reddit"), 1);   // substitution
    EXPECT_EQ(edit_distance("erddit", "reddit"), 1);   // swap
    EXPECT_EQ(edit_distance("Reddit", "reddit"), 0);   // case
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // the textbook pair
}

TEST(NearNames, NearestFirstAndNothingFarAway) {
    EXPECT_THAT(near_names("appel", fruit), ElementsAre("apple"));
    EXPECT_THAT(near_names("apple", fruit), ElementsAre("apple", "wild-apple"));  // a part of a name counts
    EXPECT_THAT(near_names("zzzzz", fruit), IsEmpty());
    EXPECT_THAT(near_names("", fruit), IsEmpty());
}

TEST(NearNames, AtMostThree) {
    const std::vector<std::string> many{"aaa1", "aaa2", "aaa3", "aaa4"};
    EXPECT_THAT(near_names("aaa", many), ElementsAre("aaa1", "aaa2", "aaa3"));
}

TEST(NameHint, ListsEverythingWhenNothingIsNear) {
    EXPECT_EQ(name_hint("appel", fruit), "did you mean apple?");
    EXPECT_EQ(name_hint("zzzzz", fruit), "known: apple, apricot, pear, wild-apple");
}

}  // namespace
}  // namespace gnnplan::catalog
