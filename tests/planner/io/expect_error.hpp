// Checks that something throws gnnplan::Error with a code and a message that says certain things.
#pragma once

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>

#include <string>

namespace gnnplan::test {

template <class Action>
void expect_error(const Action& action, ErrorCode code, const std::string& part_of_message) {
    try {
        action();
        ADD_FAILURE() << "nothing was thrown; expected: " << part_of_message;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_THAT(error.what(), testing::HasSubstr(part_of_message));
    }
}

}  // namespace gnnplan::test
