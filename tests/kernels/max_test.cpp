#include <gnnplan/base/range.hpp>

#include <cmath>
#include <limits>
#include <span>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/max_support.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

// Row 0: neighbours 0, 2, 3; row 1: none; row 2: neighbour 1. The columns of the operand: one largest, two, and three.
TEST(MaxReference, CountsTiesAndLeavesRowsWithoutEntriesZero) {
    OwnedCsr a{4, {0, 3, 3, 4}, {0, 2, 3, 1}};
    Owned b(4, 3);
    const float values[4][3] = {{5, -1, -2}, {-7, 0, 4}, {1, -1, -2}, {4, -3, -2}};
    for (int i = 0; i < 4; ++i) std::copy_n(values[i], 3, b.view().row(i));
    std::mt19937 random(1);
    Maxima got(random, 3, 3, 0);
    max_of(reference_table(), a, b, got, false);
    const float largest[3][3] = {{5, -1, -2}, {0, 0, 0}, {-7, 0, 4}};
    const float ties[3][3] = {{1, 2, 3}, {0, 0, 0}, {1, 1, 1}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            EXPECT_EQ(got.largest.at(i, j), largest[i][j]);
            EXPECT_EQ(got.ties.at(i, j), ties[i][j]);
        }
    }
}

class Max : public OnDevice {
protected:
    void max(const OwnedCsr& a, const Owned& b, Maxima& to, bool accumulate) {
        run(&Table::spmm_max, a.view(), b.view(), to.largest.view(), to.ties.view(), accumulate, Bytes{});
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, Max, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Max, EqualsReferenceInEveryFormAndWidth) {
    std::mt19937 random(2);
    for (const std::int64_t rows : {0, 1, 37}) {
        const OwnedCsr valued = random_csr(random, rows, 50);
        for (const auto& begins : cuts) {
            for (const OwnedCsr& a :
                 {in_panels(valued, begins), in_panels(factored(valued, random, true, true), begins)}) {
                for (const std::int64_t width : max_widths) {
                    if (!takes_next()) continue;
                    const bool accumulate = random() % 2 == 0;
                    const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
                    const Owned b = Owned(50, width, padding).fill(random, 3);
                    Maxima got(random, rows, width, padding);
                    Maxima want = got;
                    max(a, b, got, accumulate);
                    max_of(reference_table(), a, b, want, accumulate);
                    ASSERT_TRUE(equal(got, want))
                        << rows << " rows, width " << width << ", padding " << padding << ", accumulate " << accumulate
                        << ", " << begins.size() << " panels";
                }
            }
        }
    }
}

TEST(MaxVectors, EveryInstructionSetEqualsReference) {
    std::mt19937 random(3);
    const OwnedCsr whole = random_csr(random, 19, 50);
    for (const auto& begins : cuts) {
        const OwnedCsr owned = in_panels(whole, begins);
        const Csr a = owned.view();
        for (const auto* kernels : cpu::supported_kernels()) {
            for (const std::int64_t width : max_widths) {
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
                    max_of(reference_table(), owned, b, want, accumulate);
                    ASSERT_TRUE(equal(got, want)) << kernels->name << ", width " << width;
                }
            }
        }
    }
}

// Whatever the order of the pieces, and into how many the neighbours are cut.
TEST_P(Max, CombinesPiecesInAnyOrder) {
    std::mt19937 random(4);
    const OwnedCsr whole = random_csr(random, 29, 50);
    const OwnedCsr cut = in_panels(whole, {0, 11, 40});
    const Owned b = Owned(50, 41).fill(random, 1);
    Maxima want(random, 29, 41, 0);
    max_of(reference_table(), whole, b, want, false);
    std::vector<std::int64_t> order = {0, 1, 2};
    do {
        Maxima got(random, 29, 41, 0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            run(&Table::spmm_max, cut.view().panel(order[i]), b.view(), got.largest.view(), got.ties.view(), i > 0,
                Bytes{});
        }
        ASSERT_TRUE(equal(got, want));
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(Max, LongRowsEqualReference) {
    std::mt19937 random(7);
    OwnedCsr a;
    a.columns = 50;
    for (const std::int64_t length : {1, 511, 512, 513, 0, 1025, 3000, 9000, 3, 6000}) {
        for (std::int64_t k = 0; k < length; ++k) a.column.push_back(static_cast<std::int32_t>(random() % 50));
        a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
    }
    for (const std::int64_t width : {41, 256}) {
        for (const bool accumulate : {false, true}) {
            const Owned b = Owned(50, width).fill(random, 2);
            Maxima got(random, 10, width, 0);
            Maxima want = got;
            max(a, b, got, accumulate);
            max_of(reference_table(), a, b, want, accumulate);
            ASSERT_TRUE(equal(got, want)) << "width " << width;
        }
    }
}

// Packed rows of the operand are the same numbers.
TEST(MaxVectors, PackedPanelsEqualUnpackedOnes) {
    std::mt19937 random(5);
    for (const std::int64_t panels : {2, 3, 7}) {
        std::vector<std::int64_t> begins;
        for (std::int64_t p = 0; p < panels; ++p) begins.push_back(balanced_block({0, 50}, p, panels).begin);
        const OwnedCsr a = in_panels(random_csr(random, 23, 50), begins);
        for (const std::int64_t width : max_widths) {
            std::vector<float> room(static_cast<std::size_t>(26 * 176));
            const Owned b = Owned(50, width, 3).fill(random, 3);
            Maxima got(random, 23, width, 1);
            Maxima want = got;
            cpu_table().spmm_max(a.view(), b.view(), got.largest.view(), got.ties.view(), true,
                                 std::as_writable_bytes(std::span(room)));
            max_of(reference_table(), a, b, want, true);
            ASSERT_TRUE(equal(got, want)) << panels << " panels, width " << width;
            EXPECT_TRUE(std::any_of(room.begin(), room.end(), [](float x) { return x != 0; })) << "nothing was packed";
        }
    }
}

// Rows of -infinity alone have a largest one; a NaN is none.
TEST_P(Max, OfInfinitiesAndNans) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const OwnedCsr a{3, {0, 2, 3, 6}, {0, 1, 2, 0, 1, 2}};
    Owned b(3, 20);
    for (std::int64_t j = 0; j < 20; ++j) b.at(0, j) = b.at(1, j) = -infinity, b.at(2, j) = std::nanf("");
    std::mt19937 random(6);
    Maxima got(random, 3, 20, 0);
    max(a, b, got, false);
    for (std::int64_t j = 0; j < 20; ++j) {
        EXPECT_EQ(got.largest.at(0, j), -infinity);
        EXPECT_EQ(got.ties.at(0, j), 2);
        EXPECT_EQ(got.largest.at(1, j), 0);
        EXPECT_EQ(got.ties.at(1, j), 0);
        EXPECT_EQ(got.largest.at(2, j), -infinity);
        EXPECT_EQ(got.ties.at(2, j), 2);
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
