// In place of GoogleTest's own main: it tells skipped from passed.
#include "tests/support/run_tests.hpp"

#include <gmock/gmock.h>

int main(int argc, char** argv) {
    ::testing::InitGoogleMock(&argc, argv);
    return gnnplan::testing::run_tests();
}
