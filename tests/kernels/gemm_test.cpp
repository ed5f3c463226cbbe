#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

class Gemm : public OnDevice {
protected:
    void check(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k);
};
INSTANTIATE_TEST_SUITE_P(Devices, Gemm, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

void Gemm::check(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k) {
    for (const Transpose ta : {Transpose::no, Transpose::yes}) {
        for (const Transpose tb : {Transpose::no, Transpose::yes}) {
            for (const std::int64_t padding : {0, 3}) {
                if (!takes_next()) continue;
                const bool a_is_turned = ta == Transpose::yes;
                const bool b_is_turned = tb == Transpose::yes;
                const Owned a = Owned(a_is_turned ? k : m, a_is_turned ? m : k, padding).fill(random, 3);
                const Owned b = Owned(b_is_turned ? n : k, b_is_turned ? k : n, padding).fill(random, 3);
                for (const bool accumulate : {false, true}) {  // old contents matter only where they are added to
                    Owned got = Owned(m, n, padding).fill(random, 9);
                    Owned want = got;
                    run(&Table::gemm, ta, tb, a.view(), b.view(), got.view(), accumulate);
                    reference_table().gemm(ta, tb, a.view(), b.view(), want.view(), accumulate);
                    ASSERT_EQ(difference(got, want), "")
                        << m << " x " << n << " x " << k << (a_is_turned ? " T" : " N") << (b_is_turned ? "T" : "N")
                        << (accumulate ? ", accumulated" : "");
                }
            }
        }
    }
}

// Sums of at most 700 products of integers up to 3 * 3 are exact in float, in every order: equality is asked for.
TEST_P(Gemm, EqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t m : {0, 1, 2, 5, 17, 64}) {
        for (const std::int64_t n : {0, 1, 3, 16, 41}) {
            for (const std::int64_t k : {0, 1, 4, 7, 33}) check(random, m, n, k);
        }
    }
}

// All rows once, in ranges that begin at multiples of eight, when they are made; and the bits of a plain product.
TEST(GemmThen, IsTheProductAndTellsOfItsRows) {
    std::mt19937 random(5);
    for (const Table* table : {&cpu_table(), &reference_table()}) {
        for (const int threads : {1, 3}) {
            set_threads(threads);
            for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{0, 5, 3},
                                          {7, 0, 3},
                                          {9, 4, 0},
                                          {1, 1, 1},
                                          {1003, 41, 33},
                                          {500, 700, 20},
                                          {100, 3, 1500}}) {
                for (const Transpose turned : {Transpose::no, Transpose::yes}) {
                    const bool is_turned = turned == Transpose::yes;
                    const Owned a = Owned(m, k).fill(random, 3);
                    const Owned b = Owned(is_turned ? n : k, is_turned ? k : n).fill(random, 3);
                    Owned want(m, n), seen(m, n), got(m, n);
                    table->gemm(Transpose::no, turned, a.view(), b.view(), want.view(), false);
                    std::vector<std::atomic<int>> told(static_cast<std::size_t>(m));
                    table->gemm_then(turned, a.view(), b.view(), got.view(),
                                     [&](std::int64_t first, std::int64_t last) {
                                         EXPECT_EQ(first % 8, 0);
                                         for (std::int64_t i = first; i < last; ++i) {
                                             ++told[static_cast<std::size_t>(i)];
                                             std::copy_n(got.view().row(i), n, seen.view().row(i));
                                             std::fill_n(got.view().row(i), n, 7.0F);
                                         }
                                     });
                    EXPECT_EQ(difference(seen, want), "") << m << " x " << n << " x " << k;
                    EXPECT_TRUE(std::ranges::all_of(told, [](const auto& times) { return times == 1; }));
                    for (std::int64_t i = 0; i < m; ++i) std::fill_n(want.view().row(i), n, 7.0F);
                    EXPECT_EQ(difference(got, want), "") << "what was done to the rows stays";
                }
            }
        }
    }
    set_threads(1);
}

TEST_P(Gemm, EqualsReferenceOnShapesThatAreSplit) {
    set_threads(3);
    std::mt19937 random(2);
    check(random, 301, 41, 16);
    check(random, 16, 130, 700);
    check(random, 130, 7, 700);
    set_threads(1);
}

// Longer than a block of the inner dimension, with and without threads to split it over: integers in -1 .. 1, so that
// every order of the sums is exact.
TEST_P(Gemm, EqualsReferenceOnLongSums) {
    std::mt19937 random(3);
    for (const int threads : {1, 3}) {
        set_threads(threads);
        for (const auto& [m, n, k] : {std::array{30, 41, 2500}, {13, 16, 1025}, {128, 33, 1600}}) {
            const Owned a = Owned(k, m, 2).fill(random, 1);
            const Owned b = Owned(k, n, 1).fill(random, 1);
            const Owned a_turned = Owned(m, k, 2).fill(random, 1);
            Owned got(m, n, 5);
            Owned want(m, n, 5);
            run(&Table::gemm, Transpose::yes, Transpose::no, a.view(), b.view(), got.view(), false);
            reference_table().gemm(Transpose::yes, Transpose::no, a.view(), b.view(), want.view(), false);
            ASSERT_EQ(difference(got, want), "") << "weight gradient " << m << " x " << n << " x " << k;
            run(&Table::gemm, Transpose::no, Transpose::no, a_turned.view(), b.view(), got.view(), false);
            reference_table().gemm(Transpose::no, Transpose::no, a_turned.view(), b.view(), want.view(), false);
            ASSERT_EQ(difference(got, want), "") << m << " x " << n << " x " << k;
        }
    }
    set_threads(1);
}

// How one block, written and then added to itself, differs from `want`; `direct`: b is packed only where it must be.
std::string tile_difference(const cpu::VectorKernels& kernels, Transpose ta, ConstMatrix a, ConstMatrix b, Owned want,
                            bool direct) {
    const std::int64_t rest = direct ? b.columns % kernels.gemm_panel : b.columns;
    std::vector<float> packed(static_cast<std::size_t>(b.rows * ((rest + 15) / 16 * 16)));
    kernels.gemm_pack(Transpose::no, {b.data + b.columns - rest, b.rows, rest, b.stride}, packed.data());
    Owned got(want.view().rows, want.view().columns, 1);
    cpu::GemmBlock block;
    block.transpose_a = ta;
    block.a = a;
    if (direct) block.b = b;
    block.packed = packed.data();
    block.inner = b.rows;
    block.c = got.view();
    kernels.gemm_rows(block);
    if (const std::string wrong = difference(got, want); !wrong.empty()) return wrong;
    block.accumulate = true;
    kernels.gemm_rows(block);
    for (std::int64_t i = 0; i < got.view().rows; ++i) {
        for (std::int64_t j = 0; j < got.view().columns; ++j) want.at(i, j) *= 2;
    }
    return difference(got, want);
}

// Every tile: all heights, whole and partial panels, first and further blocks of the inner dimension.
TEST(GemmVectors, EveryInstructionSetComputesEveryTile) {
    std::mt19937 random(4);
    constexpr std::int64_t inner = 5;
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const Transpose ta : {Transpose::no, Transpose::yes}) {
            for (std::int64_t m = 1; m <= 25; ++m) {
                for (std::int64_t n = 1; n <= 70; ++n) {
                    const bool turned = ta == Transpose::yes;
                    const Owned a = Owned(turned ? inner : m, turned ? m : inner, 3).fill(random, 3);
                    const Owned b = Owned(inner, n, 2).fill(random, 3);
                    Owned want(m, n, 1);
                    reference_table().gemm(ta, Transpose::no, a.view(), b.view(), want.view(), false);
                    for (const bool direct : {false, true}) {
                        const std::string got = tile_difference(*kernels, ta, a.view(), b.view(), want, direct);
                        ASSERT_EQ(got, "") << kernels->name << ", " << m << " x " << n;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
