// Plan files cut short or with a flipped bit, at every byte.
#include "planner/io/plan.hpp"
#include "tests/planner/io/samples.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>

#include <string>
#include <string_view>

namespace gnnplan::io {
namespace {

using test::small_plan;

TEST(Plan, SmallSampleIsValid) { EXPECT_NO_THROW(read_plan(write_plan(small_plan()), "plan.json")); }

TEST(Plan, CutAnywhereIsRefused) {
    const std::string text = write_plan(small_plan());
    for (std::size_t length = 0; length + 1 < text.size(); ++length) {  // the last byte is the newline
        try {
            read_plan(std::string_view(text).substr(0, length), "plan.json");
            FAIL() << "read the first " << length << " bytes of " << text.size();
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::data) << error.what();
        }
    }
}

TEST(Plan, FlippedBitsAreRefusedOrChangeNothing) {
    const std::string text = write_plan(small_plan());
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string damaged = text;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
        try {
            ASSERT_EQ(write_plan(read_plan(damaged, "plan.json")), text) << "byte " << i;
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::data) << error.what();
        }
    }
}

}  // namespace
}  // namespace gnnplan::io
