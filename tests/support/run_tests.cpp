#include "tests/support/run_tests.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace gnnplan::testing {
namespace {

constexpr int skipped_exit = 77;  // as SKIP_RETURN_CODE in cmake/gnnplan.cmake

void say_why(const ::testing::TestInfo& test) {
    const ::testing::TestResult& result = *test.result();
    if (!result.Skipped()) return;
    for (int i = 0; i < result.total_part_count(); ++i) {
        const ::testing::TestPartResult& part = result.GetTestPartResult(i);
        if (part.skipped()) std::printf("skipped: %s.%s: %s\n", test.test_suite_name(), test.name(), part.summary());
    }
}

}  // namespace

int run_tests() {
    setenv("GNNPLAN_PROBE", "off", 0);  // plans are the same wherever tests run
    const int failed = RUN_ALL_TESTS();
    const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const ::testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) say_why(*suite.GetTestInfo(j));
    }
    if (failed != 0) return failed;
    return all.skipped_test_count() > 0 ? skipped_exit : 0;
}

}  // namespace gnnplan::testing
