// The largest neighbours and their gradient. Operands are small integers, so that many are equal, and shares of gradients
// too, so that sums are exact in every order.
#include <gtest/gtest.h>

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

const std::vector<std::int64_t> widths = {1,  2,  3,  5,  7,  8,   9,   15,  16,  17,  31,  32,  33,  63,
                                          64, 65, 80, 96, 97, 127, 128, 129, 144, 145, 161, 256, 320, 602};
const std::vector<std::vector<std::int64_t>> cuts = {{0}, {0, 25}, {0, 1, 49}, {0, 0, 20, 20}, {0, 7, 30, 31, 50}};

// Two results that are set out alike, and compared together.
struct Maxima {
    Owned largest, ties;

    // What a product over other columns left behind: counts of 0 say that there was nothing yet.
    Maxima(std::mt19937& random, std::int64_t rows, std::int64_t width, std::int64_t padding)
        : largest(Owned(rows, width, padding).fill(random, 2)), ties(Owned(rows, width, padding).fill(random, 2)) {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < width; ++j) {
                ties.at(i, j) = std::max(0.0F, ties.at(i, j));
                if (ties.at(i, j) == 0) largest.at(i, j) = 0;
            }
        }
    }
};

::testing::AssertionResult equal(const Maxima& got, const Maxima& want) {
    const std::string maxima = difference(got.largest, want.largest);
    const std::string ties = difference(got.ties, want.ties);
    if (maxima.empty() && ties.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "maxima " << maxima << ", ties " << ties;
}

void max(const Table& table, const OwnedCsr& a, const Owned& b, Maxima& to, bool accumulate) {
    table.spmm_max(a.view(), b.view(), to.largest.view(), to.ties.view(), accumulate, {});
}

// Row 0: neighbours 0, 2, 3; row 1: none; row 2: neighbour 1. The columns of the operand: one largest, two, and three.
TEST(Max, ReferenceCountsTiesAndLeavesRowsWithoutEntriesZero) {
    OwnedCsr a{4, {0, 3, 3, 4}, {0, 2, 3, 1}};
    Owned b(4, 3);
    const float values[4][3] = {{5, -1, -2}, {-7, 0, 4}, {1, -1, -2}, {4, -3, -2}};
    for (int i = 0; i < 4; ++i) std::copy_n(values[i], 3, b.view().row(i));
    std::mt19937 random(1);
    Maxima got(random, 3, 3, 0);
    max(reference_table(), a, b, got, false);
    const float largest[3][3] = {{5, -1, -2}, {0, 0, 0}, {-7, 0, 4}};
    const float ties[3][3] = {{1, 2, 3}, {0, 0, 0}, {1, 1, 1}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            EXPECT_EQ(got.largest.at(i, j), largest[i][j]);
            EXPECT_EQ(got.ties.at(i, j), ties[i][j]);
        }
    }
}

TEST(Max, CpuEqualsReferenceInEveryFormAndWidth) {
    std::mt19937 random(2);
    for (const std::int64_t rows : {0, 1, 37}) {
        const OwnedCsr valued = random_csr(random, rows, 50);
        for (const auto& begins : cuts) {
            for (const OwnedCsr& a :
                 {in_panels(valued, begins), in_panels(factored(valued, random, true, true), begins)}) {
                for (const std::int64_t width : widths) {
                    const bool accumulate = random() % 2 == 0;
                    const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
                    const Owned b = Owned(50, width, padding).fill(random, 3);
                    Maxima got(random, rows, width, padding);
                    Maxima want = got;
                    max(cpu_table(), a, b, got, accumulate);
                    max(reference_table(), a, b, want, accumulate);
                    ASSERT_TRUE(equal(got, want))
                        << rows << " rows, width " << width << ", padding " << padding << ", accumulate " << accumulate
                        << ", " << begins.size() << " panels";
                }
            }
        }
    }
}

TEST(Max, EveryInstructionSetEqualsReference) {
    std::mt19937 random(3);
    const OwnedCsr whole = random_csr(random, 19, 50);
    for (const auto& begins : cuts) {
        const OwnedCsr owned = in_panels(whole, begins);
        const Csr a = owned.view();
        for (const auto* kernels : cpu::supported_kernels()) {
            for (const std::int64_t width : widths) {
                for (const bool accumulate : {false, true}) {
                    const Owned b = Owned(50, width, 1).fill(random, 2);
                    Maxima got(random, 19, width, 2);
                    Maxima want = got;
                    for (std::int64_t p = 0; p < a.panels; ++p) {
                        const auto store = accumulate || p > 0 ? cpu::Store::add : cpu::Store::write;
                        const auto rows = [&](std::int64_t first, std::int64_t last) {
                            kernels->spmm_max_rows(a.panel(p), b.view(), got.largest.view(), got.ties.view(), store,
                                                   first, last);
                        };
                        rows(0, 7), rows(7, 19);
                    }
                    max(reference_table(), owned, b, want, accumulate);
                    ASSERT_TRUE(equal(got, want)) << kernels->name << ", width " << width;
                }
            }
        }
    }
}

// Whatever the order of the pieces, and into how many the neighbours are cut.
TEST(Max, CombinesPiecesInAnyOrder) {
    std::mt19937 random(4);
    const OwnedCsr whole = random_csr(random, 29, 50);
    const OwnedCsr cut = in_panels(whole, {0, 11, 40});
    const Owned b = Owned(50, 41).fill(random, 1);
    Maxima want(random, 29, 41, 0);
    max(reference_table(), whole, b, want, false);
    std::vector<std::int64_t> order = {0, 1, 2};
    do {
        Maxima got(random, 29, 41, 0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            cpu_table().spmm_max(cut.view().panel(order[i]), b.view(), got.largest.view(), got.ties.view(), i > 0, {});
        }
        ASSERT_TRUE(equal(got, want));
    } while (std::next_permutation(order.begin(), order.end()));
}

// Packed rows of the operand are the same numbers.
TEST(Max, PackedPanelsEqualUnpackedOnes) {
    std::mt19937 random(5);
    for (const std::int64_t panels : {2, 3, 7}) {
        std::vector<std::int64_t> begins;
        for (std::int64_t p = 0; p < panels; ++p) begins.push_back(balanced_block({0, 50}, p, panels).begin);
        const OwnedCsr a = in_panels(random_csr(random, 23, 50), begins);
        for (const std::int64_t width : widths) {
            std::vector<float> room(static_cast<std::size_t>(26 * 176));
            const Owned b = Owned(50, width, 3).fill(random, 3);
            Maxima got(random, 23, width, 1);
            Maxima want = got;
            cpu_table().spmm_max(a.view(), b.view(), got.largest.view(), got.ties.view(), true,
                                 std::as_writable_bytes(std::span(room)));
            max(reference_table(), a, b, want, true);
            ASSERT_TRUE(equal(got, want)) << panels << " panels, width " << width;
            EXPECT_TRUE(std::any_of(room.begin(), room.end(), [](float x) { return x != 0; })) << "nothing was packed";
        }
    }
}

// Rows of -infinity alone have a largest one; a NaN is none.
TEST(Max, OfInfinitiesAndNans) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const OwnedCsr a{3, {0, 2, 3, 6}, {0, 1, 2, 0, 1, 2}};
    for (const Table* table : {&reference_table(), &cpu_table()}) {
        Owned b(3, 20);
        for (std::int64_t j = 0; j < 20; ++j) b.at(0, j) = b.at(1, j) = -infinity, b.at(2, j) = std::nanf("");
        std::mt19937 random(6);
        Maxima got(random, 3, 20, 0);
        max(*table, a, b, got, false);
        for (std::int64_t j = 0; j < 20; ++j) {
            EXPECT_EQ(got.largest.at(0, j), -infinity);
            EXPECT_EQ(got.ties.at(0, j), 2);
            EXPECT_EQ(got.largest.at(1, j), 0);
            EXPECT_EQ(got.ties.at(1, j), 0);
            EXPECT_EQ(got.largest.at(2, j), -infinity);
            EXPECT_EQ(got.ties.at(2, j), 2);
        }
    }
}

// The operands of a gradient: small integers, so that many maxima are equal to the row's own.
struct Back {
    Owned gradient, maxima, own;

    Back(std::mt19937& random, std::int64_t rows, std::int64_t width, std::int64_t padding)
        : gradient(Owned(50, width, padding).fill(random, 3)),
          maxima(Owned(50, width, 2 * padding).fill(random, 1)),
          own(Owned(rows, width, padding).fill(random, 1)) {}

    void run(const Table& table, const Csr& a, Owned& to, bool accumulate) const {
        table.spmm_max_back(a, gradient.view(), maxima.view(), own.view(), to.view(), accumulate);
    }
};

TEST(MaxBack, CpuEqualsReferenceInEveryFormAndWidth) {
    std::mt19937 random(7);
    for (const std::int64_t rows : {0, 1, 37}) {
        const OwnedCsr whole = random_csr(random, rows, 50);
        for (const auto& begins : cuts) {
            const OwnedCsr a = in_panels(whole, begins);
            for (const std::int64_t width : widths) {
                const bool accumulate = random() % 2 == 0;
                const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
                const Back operands(random, rows, width, padding);
                Owned got = Owned(rows, width, padding).fill(random, 9);
                Owned want = got;
                operands.run(cpu_table(), a.view(), got, accumulate);
                operands.run(reference_table(), a.view(), want, accumulate);
                ASSERT_EQ(difference(got, want), "") << rows << " rows, width " << width << ", padding " << padding;
            }
        }
    }
}

TEST(MaxBack, EveryInstructionSetEqualsReference) {
    std::mt19937 random(8);
    const OwnedCsr owned = random_csr(random, 19, 50);
    const Csr a = owned.view();
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t width : widths) {
            for (const bool accumulate : {false, true}) {
                const Back operands(random, 19, width, 1);
                Owned got = Owned(19, width, 2).fill(random, 9);
                Owned want = got;
                const auto store = accumulate ? cpu::Store::add : cpu::Store::write;
                for (const auto& [first, last] : {std::pair{0, 7}, {7, 19}}) {
                    kernels->spmm_max_back_rows(a, operands.gradient.view(), operands.maxima.view(),
                                                operands.own.view(), got.view(), store, first, last);
                }
                operands.run(reference_table(), a, want, accumulate);
                ASSERT_EQ(difference(got, want), "") << kernels->name << ", width " << width;
            }
        }
    }
}

// Large results are written past the caches, in whole aligned vectors.
TEST(Max, StreamedRowsEqualReference) {
    constexpr std::int64_t rows = 19;
    struct alignas(64) Line {
        float values[16];
    };
    std::mt19937 random(9);
    const OwnedCsr a = random_csr(random, rows, 50);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t width : {8, 16, 41, 48, 128, 160, 256}) {
            const std::int64_t stride = (width + 15) / 16 * 16;
            std::vector<Line> lines(static_cast<std::size_t>(3 * rows * stride / 16));
            const auto matrix = [&](std::int64_t i) {
                return Matrix{lines[static_cast<std::size_t>(i * rows * stride / 16)].values, rows, width, stride};
            };
            const Back operands(random, rows, width, 0);
            kernels->spmm_max_rows(a.view(), operands.maxima.view(), matrix(0), matrix(1), cpu::Store::nontemporal, 0,
                                   rows);
            kernels->spmm_max_back_rows(a.view(), operands.gradient.view(), operands.maxima.view(), operands.own.view(),
                                        matrix(2), cpu::Store::nontemporal, 0, rows);
            Maxima want(random, rows, width, 0);
            max(reference_table(), a, operands.maxima, want, false);
            Owned back(rows, width);
            operands.run(reference_table(), a.view(), back, false);
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < width; ++j) {
                    ASSERT_EQ(matrix(0).row(i)[j], want.largest.at(i, j)) << kernels->name << ", width " << width;
                    ASSERT_EQ(matrix(1).row(i)[j], want.ties.at(i, j)) << kernels->name << ", width " << width;
                    ASSERT_EQ(matrix(2).row(i)[j], back.at(i, j)) << kernels->name << ", width " << width;
                }
            }
        }
    }
}

// The gradient of a maximum is shared evenly: what every neighbour gets adds up to what the row has, and nobody gets
// anything who is smaller.
TEST(MaxBack, SharesEachGradientEvenlyAmongTheLargest) {
    std::mt19937 random(10);
    const OwnedCsr forward = random_csr(random, 37, 50);
    OwnedCsr back;  // its transpose
    back.columns = 37;
    for (std::int32_t u = 0; u < 50; ++u) {
        for (std::int32_t v = 0; v < 37; ++v) {
            for (auto k = forward.row_start[static_cast<std::size_t>(v)];
                 k < forward.row_start[static_cast<std::size_t>(v) + 1]; ++k) {
                if (forward.column[static_cast<std::size_t>(k)] == u) back.column.push_back(v);
            }
        }
        back.row_start.push_back(static_cast<std::int64_t>(back.column.size()));
    }
    constexpr std::int64_t width = 33;
    const Owned x = Owned(50, width).fill(random, 1);
    Maxima found(random, 37, width, 0);
    max(cpu_table(), forward, x, found, false);
    Owned shares = Owned(37, width).fill(random, 5);
    const Owned gradient = shares;
    cpu_table().divide(shares.view(), found.ties.view());
    Owned got(50, width);
    cpu_table().spmm_max_back(back.view(), shares.view(), found.largest.view(), x.view(), got.view(), false);
    for (std::int64_t j = 0; j < width; ++j) {
        std::vector<double> want(50, 0);
        for (std::int64_t v = 0; v < 37; ++v) {
            const auto row = forward.column.begin();
            const auto first = row + forward.row_start[static_cast<std::size_t>(v)];
            const auto last = row + forward.row_start[static_cast<std::size_t>(v) + 1];
            if (first == last) continue;
            float largest = -100;
            for (auto u = first; u != last; ++u) largest = std::max(largest, x.at(*u, j));
            const auto ties = std::count_if(first, last, [&](std::int32_t u) { return x.at(u, j) == largest; });
            for (auto u = first; u != last; ++u) {
                if (x.at(*u, j) != largest) continue;
                want[static_cast<std::size_t>(*u)] +=
                    static_cast<double>(gradient.at(v, j)) / static_cast<double>(ties);
            }
        }
        // At most 40 shares of up to 5, each rounded once and added in float.
        for (std::int64_t u = 0; u < 50; ++u)
            EXPECT_NEAR(got.at(u, j), want[static_cast<std::size_t>(u)], 40 * 41 * 5 * 6e-8);
    }
}

TEST(Divide, LeavesZeroWhereNothingIsToBeShared) {
    std::mt19937 random(11);
    for (const std::int64_t width : {0, 1, 7, 64}) {
        const Owned by = Owned(21, width, 2).fill(random, 2);
        Owned got = Owned(21, width, 1).fill(random, 9);
        Owned want = got;
        cpu_table().divide(got.view(), by.view());
        for (std::int64_t i = 0; i < 21; ++i) {
            for (std::int64_t j = 0; j < width; ++j)
                want.at(i, j) = by.at(i, j) == 0 ? 0.0F : want.at(i, j) / by.at(i, j);
        }
        EXPECT_EQ(difference(got, want), "");
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
