// The comparison must be able to fail: a kernel with one wrong tail must not pass.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

TEST(Comparison, FailsOnAnySingleChangedElement) {
    std::mt19937 random(1);
    const Owned want = Owned(3, 17, 2).fill(random, 5);
    for (std::int64_t i = 0; i < 3; ++i) {
        for (std::int64_t j = 0; j < 17; ++j) {
            Owned got = want;
            EXPECT_EQ(difference(got, want, 1e-6), "");
            got.at(i, j) += 1e-4F;
            EXPECT_NE(difference(got, want, 1e-6), "") << i << ", " << j;
            got.at(i, j) = std::numeric_limits<float>::quiet_NaN();
            EXPECT_NE(difference(got, want, 1e-6), "") << i << ", " << j;
        }
    }
}

TEST(Comparison, FailsOnAWriteBehindARow) {
    std::mt19937 random(2);
    const Owned want = Owned(2, 5, 1).fill(random, 5);
    Owned got = want;
    got.at(1, 5) = 0;
    EXPECT_EQ(difference(got, want), "wrote behind a row's end");
}

// An SpMM that leaves out the columns beyond the last whole vector of eight.
void spmm_without_tail(const Csr& a, ConstMatrix b, Matrix c, bool accumulate) {
    Matrix whole = c;
    whole.columns = c.columns / 8 * 8;
    for (std::int64_t i = 0; i < c.rows; ++i) std::fill_n(c.row(i), c.columns, 0.0F);
    cpu_table().spmm(a, b, whole, accumulate, {});
}

TEST(Comparison, FailsOnAMissingTail) {
    std::mt19937 random(3);
    const OwnedCsr a = random_csr(random, 10, 10);
    const Owned b = Owned(10, 41).fill(random, 3);
    Owned got(10, 41);
    Owned want(10, 41);
    spmm_without_tail(a.view(), b.view(), got.view(), false);
    reference_table().spmm(a.view(), b.view(), want.view(), false, {});
    EXPECT_NE(difference(got, want), "");
}

}  // namespace
}  // namespace gnnplan::kernels::testing
