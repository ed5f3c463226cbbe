// How a test program ends.
#pragma once

namespace gnnplan::testing {

// Runs all tests, after GoogleTest is initialised, and returns what the program is to exit with: 1 where one failed,
// else 77 where one was skipped, else 0. Then "skipped: case: why" is on stdout for each, and ctest says Skipped, not
// Passed.
int run_tests();

}  // namespace gnnplan::testing
