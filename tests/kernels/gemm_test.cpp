#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

void check(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k) {
    for (const Transpose ta : {Transpose::no, Transpose::yes}) {
        for (const Transpose tb : {Transpose::no, Transpose::yes}) {
            for (const std::int64_t padding : {0, 3}) {
                const bool a_is_turned = ta == Transpose::yes;
                const bool b_is_turned = tb == Transpose::yes;
                const Owned a = Owned(a_is_turned ? k : m, a_is_turned ? m : k, padding).fill(random, 3);
                const Owned b = Owned(b_is_turned ? n : k, b_is_turned ? k : n, padding).fill(random, 3);
                Owned got = Owned(m, n, padding).fill(random, 9);  // old contents must not matter
                Owned want(m, n, padding);
                cpu_table().gemm(ta, tb, a.view(), b.view(), got.view());
                reference_table().gemm(ta, tb, a.view(), b.view(), want.view());
                ASSERT_EQ(difference(got, want), "")
                    << m << " x " << n << " x " << k << (a_is_turned ? " T" : " N") << (b_is_turned ? "T" : "N");
            }
        }
    }
}

// Sums of at most 700 products of integers up to 3 * 3 are exact in float, in every order: equality is asked for.
TEST(Gemm, CpuEqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t m : {0, 1, 2, 5, 17, 64}) {
        for (const std::int64_t n : {0, 1, 3, 16, 41}) {
            for (const std::int64_t k : {0, 1, 4, 7, 33}) check(random, m, n, k);
        }
    }
}

TEST(Gemm, CpuEqualsReferenceOnShapesThatAreSplit) {
    set_threads(3);
    std::mt19937 random(2);
    check(random, 301, 41, 16);
    check(random, 16, 130, 700);
    check(random, 130, 7, 700);
    set_threads(1);
}

}  // namespace
}  // namespace gnnplan::kernels::testing
