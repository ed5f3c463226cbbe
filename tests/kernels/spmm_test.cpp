#include <gtest/gtest.h>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

std::vector<std::int64_t> widths() {
    std::vector<std::int64_t> result;
    for (std::int64_t w = 0; w <= 70; ++w) result.push_back(w);
    for (const std::int64_t w : {127, 128, 129, 255, 256, 257, 271, 272, 273, 512, 602}) result.push_back(w);
    return result;
}

// Sums of at most 200 products of integers up to 3 * 3 are exact in float, in every order: equality is asked for.
TEST(Spmm, CpuEqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 37}) {
        const OwnedCsr a = random_csr(random, rows, 23);
        for (const std::int64_t width : widths()) {
            for (const std::int64_t padding : {0, 3}) {
                for (const bool accumulate : {false, true}) {
                    const Owned b = Owned(23, width, padding).fill(random, 3);
                    Owned got = Owned(rows, width, padding).fill(random, 9);
                    Owned want = got;
                    cpu_table().spmm(a.view(), b.view(), got.view(), accumulate);
                    reference_table().spmm(a.view(), b.view(), want.view(), accumulate);
                    ASSERT_EQ(difference(got, want), "")
                        << rows << " rows, width " << width << ", padding " << padding << ", accumulate " << accumulate;
                }
            }
        }
    }
}

TEST(Spmm, EveryInstructionSetEqualsReference) {
    std::mt19937 random(2);
    const OwnedCsr a = random_csr(random, 19, 50);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t width : widths()) {
            if (width == 0) continue;  // the callers' business
            for (const bool accumulate : {false, true}) {
                const Owned b = Owned(50, width, 1).fill(random, 3);
                Owned got = Owned(19, width, 2).fill(random, 9);
                Owned want = got;
                kernels->spmm_rows(a.view(), b.view(), got.view(), accumulate, 0, 7);
                kernels->spmm_rows(a.view(), b.view(), got.view(), accumulate, 7, 19);
                reference_table().spmm(a.view(), b.view(), want.view(), accumulate);
                ASSERT_EQ(difference(got, want), "") << kernels->name << ", width " << width;
            }
        }
    }
}

TEST(Spmm, EmptyMatrices) {
    std::mt19937 random(3);
    const OwnedCsr no_columns = random_csr(random, 5, 0);
    const Owned nothing(0, 4);
    Owned c = Owned(5, 4).fill(random, 3);
    const Owned before = c;
    cpu_table().spmm(no_columns.view(), nothing.view(), c.view(), true);
    EXPECT_EQ(difference(c, before), "");
    cpu_table().spmm(no_columns.view(), nothing.view(), c.view(), false);
    Owned zero(5, 4);
    for (std::int64_t i = 0; i < 5; ++i) std::fill_n(zero.view().row(i), 4, 0.0F);
    EXPECT_EQ(difference(c, zero), "");
    cpu_table().spmm({}, nothing.view(), {}, false);
}

// A view of some rows of a larger matrix keeps its absolute offsets.
TEST(Spmm, RowSlices) {
    std::mt19937 random(4);
    const OwnedCsr whole = random_csr(random, 40, 31);
    Csr part = whole.view();
    part.row_start += 15;
    part.rows = 20;
    const Owned b = Owned(31, 24).fill(random, 3);
    Owned got(20, 24);
    Owned want(20, 24);
    cpu_table().spmm(part, b.view(), got.view(), false);
    reference_table().spmm(part, b.view(), want.view(), false);
    EXPECT_EQ(difference(got, want), "");
}

}  // namespace
}  // namespace gnnplan::kernels::testing
