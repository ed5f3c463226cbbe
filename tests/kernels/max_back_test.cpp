#include "kernels/cpu/vector.hpp"
#include "tests/kernels/max_support.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

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

class MaxBack : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, MaxBack, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(MaxBack, EqualsReferenceInEveryFormAndWidth) {
    std::mt19937 random(7);
    for (const std::int64_t rows : {0, 1, 37}) {
        const OwnedCsr whole = random_csr(random, rows, 50);
        for (const auto& begins : cuts) {
            const OwnedCsr a = in_panels(whole, begins);
            for (const std::int64_t width : max_widths) {
                if (!takes_next()) continue;
                const bool accumulate = random() % 2 == 0;
                const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
                const Back operands(random, rows, width, padding);
                Owned got = Owned(rows, width, padding).fill(random, 9);
                Owned want = got;
                run(&Table::spmm_max_back, a.view(), operands.gradient.view(), operands.maxima.view(),
                    operands.own.view(), got.view(), accumulate);
                operands.run(reference_table(), a.view(), want, accumulate);
                ASSERT_EQ(difference(got, want), "") << rows << " rows, width " << width << ", padding " << padding;
            }
        }
    }
}

TEST(MaxBackVectors, EveryInstructionSetEqualsReference) {
    std::mt19937 random(8);
    const OwnedCsr owned = random_csr(random, 19, 50);
    const Csr a = owned.view();
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t width : max_widths) {
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
TEST(MaxBackVectors, StreamedRowsEqualReference) {
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
            max_of(reference_table(), a, operands.maxima, want, false);
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
TEST_P(MaxBack, SharesEachGradientEvenlyAmongTheLargest) {
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
    run(&Table::spmm_max, forward.view(), x.view(), found.largest.view(), found.ties.view(), false, Bytes{});
    Owned shares = Owned(37, width).fill(random, 5);
    const Owned gradient = shares;
    run(&Table::divide, shares.view(), found.ties.view());
    Owned got(50, width);
    run(&Table::spmm_max_back, back.view(), shares.view(), found.largest.view(), x.view(), got.view(), false);
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

class Divide : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Divide, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Divide, LeavesZeroWhereNothingIsToBeShared) {
    std::mt19937 random(11);
    for (const std::int64_t width : {0, 1, 7, 64}) {
        const Owned by = Owned(21, width, 2).fill(random, 2);
        Owned got = Owned(21, width, 1).fill(random, 9);
        Owned want = got;
        run(&Table::divide, got.view(), by.view());
        for (std::int64_t i = 0; i < 21; ++i) {
            for (std::int64_t j = 0; j < width; ++j)
                want.at(i, j) = by.at(i, j) == 0 ? 0.0F : want.at(i, j) / by.at(i, j);
        }
        EXPECT_EQ(difference(got, want), "");
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
