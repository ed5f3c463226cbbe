// Losses and scores of several labels for each row.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Rows of some logits have a split from 0 to 3, the last of which is none, and bits.
struct Labelled {
    std::vector<std::uint8_t> split, value, known;
    std::vector<float> weight;

    Labelled(std::mt19937& random, std::int64_t rows, std::int64_t columns) {
        for (std::int64_t i = 0; i < rows; ++i) {
            split.push_back(static_cast<std::uint8_t>(random() % 4));
            weight.push_back(static_cast<float>(random() % 4) / 4);
        }
        for (std::int64_t i = 0; i < (rows * columns + 7) / 8; ++i) {
            value.push_back(static_cast<std::uint8_t>(random()));
            known.push_back(static_cast<std::uint8_t>(random() | random()));
        }
    }

    LabelBits bits(bool masked) const { return {value.data(), masked ? known.data() : nullptr}; }
    LabelBitsOf spans(bool masked) const {
        return {value, masked ? std::span<const std::uint8_t>(known) : std::span<const std::uint8_t>()};
    }
};

class Labels : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Labels, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Labels, SigmoidCrossEntropyEqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 5, 64, 333}) {
        for (const std::int64_t columns : {1, 2, 7, 8, 41, 112, 300}) {
            if (!takes_next()) continue;
            const Labelled of(random, rows, columns);
            for (const bool masked : {false, true}) {
                Owned got = Owned(rows, columns, 2).fill(random, 20);
                Owned want = got;
                const SigmoidInput input{of.bits(masked), of.split.data(), 0.5, masked ? of.weight.data() : nullptr};
                std::array<double, 1> loss{-1};
                double loss_want = -1;
                run(&Table::sigmoid_cross_entropy, got.view(), input, std::span<double>(loss));
                reference_table().sigmoid_cross_entropy(want.view(), input, &loss_want);
                EXPECT_NEAR(loss[0], loss_want, 1e-6 * (1 + loss_want)) << rows << " x " << columns;
                ASSERT_EQ(difference(got, want, 1e-6), "") << rows << " x " << columns;
            }
        }
    }
}

TEST_P(Labels, LossOfASplitEqualsReference) {
    std::mt19937 random(2);
    for (const std::int64_t rows : {0, 1, 100, 777}) {
        for (const std::int64_t columns : {1, 3, 41, 257}) {
            const Labelled of(random, rows, columns);
            const Owned logits = Owned(rows, columns, 1).fill(random, 100);
            for (const bool masked : {false, true}) {
                std::array<double, 1> got{7};
                double want = 7;
                const std::uint8_t valid = 1;
                run(&Table::label_loss, logits.view(), of.spans(masked), std::span<const std::uint8_t>(of.split), valid,
                    std::span<double>(got));
                reference_table().label_loss(logits.view(), of.bits(masked), of.split.data(), valid, &want);
                EXPECT_NEAR(got[0], want, 1e-6 * want) << rows << " x " << columns;
            }
        }
    }
}

TEST_P(Labels, CountsEqualReference) {
    std::mt19937 random(3);
    for (const std::int64_t rows : {0, 1, 100, 1000}) {
        for (const std::int64_t columns : {1, 3, 41}) {
            const Labelled of(random, rows, columns);
            Owned logits = Owned(rows, columns, 1).fill(random, 2);  // many are 0, which finds nothing
            if (rows > 0) logits.at(0, 0) = nan;
            for (const bool masked : {false, true}) {
                std::array<double, 9> got{}, want{};
                run(&Table::count_labels, logits.view(), of.spans(masked), std::span<const std::uint8_t>(of.split),
                    std::span<double>(got));
                reference_table().count_labels(logits.view(), of.bits(masked), of.split.data(), want.data());
                EXPECT_EQ(got, want) << rows << " x " << columns;
            }
        }
    }
}

std::vector<double> rank_sums(const Table& table, const Owned& logits, const LabelBits& labels,
                              const std::vector<std::uint8_t>& split) {
    const ConstMatrix z = logits.view();
    std::vector<double> sums(static_cast<std::size_t>(9 * z.columns), -1);
    std::vector<std::uint64_t> order(static_cast<std::size_t>(z.rows * z.columns));
    table.rank_sums(z, labels, split.data(), order.data(), {sums.data(), 9, z.columns, z.columns});
    return sums;
}

// Equal sums, to the bit: ties, zeros of both signs and splits without a vertex included.
TEST(RankSums, EqualThoseOfAllPairs) {
    std::mt19937 random(4);
    for (const std::int64_t rows : {0, 1, 2, 50, 400}) {
        for (const std::int64_t columns : {1, 3, 9}) {
            for (const int bound : {0, 2, 100'000}) {
                const Labelled of(random, rows, columns);
                Owned logits = Owned(rows, columns, 1).fill(random, bound);
                for (std::int64_t i = 0; i < rows; i += 3) logits.at(i, 0) = -logits.at(i, 0);  // -0 where it was 0
                for (const bool masked : {false, true}) {
                    EXPECT_EQ(rank_sums(cpu_table(), logits, of.bits(masked), of.split),
                              rank_sums(reference_table(), logits, of.bits(masked), of.split))
                        << rows << " x " << columns << " within " << bound;
                }
            }
        }
    }
}

// Ranks 1.5, 1.5, 3 and 4 of -1, -1, 0.5 and 2; the two that have the label have ranks 1.5 and 4. The last row is of
// another split.
TEST(RankSums, ShareTheMeanRankOfEqualLogits) {
    Owned logits(5, 1);
    const std::array<float, 5> z{2, -1, 0.5F, -1, 7};
    for (std::int64_t i = 0; i < 5; ++i) logits.at(i, 0) = z[static_cast<std::size_t>(i)];
    const std::uint8_t value = 0b10011;  // rows 0, 1 and 4
    for (const Table* table : {&cpu_table(), &reference_table()}) {
        EXPECT_EQ(rank_sums(*table, logits, {&value, nullptr}, {1, 1, 1, 1, 2}),
                  (std::vector<double>{0, 0, 0, 2, 2, 11, 1, 0, 2}));
    }
}

TEST(RankSums, AreNoNumberWhereALogitIsNone) {
    Owned logits(3, 2);
    for (std::int64_t i = 0; i < 3; ++i) logits.at(i, 0) = logits.at(i, 1) = static_cast<float>(i);
    logits.at(1, 1) = nan;
    const std::uint8_t value = 0b111;
    for (const Table* table : {&cpu_table(), &reference_table()}) {
        const std::vector<double> sums = rank_sums(*table, logits, {&value, nullptr}, {0, 0, 0});
        EXPECT_FALSE(std::isnan(sums[4])) << table->name;
        EXPECT_TRUE(std::isnan(sums[5])) << table->name;
    }
}

// The row has one logit that is far from or near to 0, whose label is there or not; a column behind it is not known.
// The gradient is right to 4 units in the last place (2^-23 of it at most): two of the exponential, a sum and a
// quotient.
TEST(LabelVectors, EveryInstructionSetIsExactFarFromZero) {
    for (const auto* kernels : cpu::supported_kernels()) {
        for (int i = -4000; i <= 4000; ++i) {
            const float x = 0.0215F * static_cast<float>(i);
            for (const unsigned value : {0U, 1U}) {
                const auto there = static_cast<std::uint8_t>(value);
                const std::uint8_t known = 1;
                std::array<float, 2> z{x, 3};
                const double loss = kernels->losses.label_row(z.data(), 2, {&there, &known}, 0, 1, z.data());
                const double away = there != 0 ? -static_cast<double>(x) : static_cast<double>(x);
                const double want = std::max(away, 0.0) + std::log1p(std::exp(-std::abs(away)));
                const double size = 1 / (1 + std::exp(-away));
                ASSERT_NEAR(loss, want, 1e-6 * want + 1e-15) << kernels->name << ", " << x;
                ASSERT_NEAR(z[0], there != 0 ? -size : size, 4 * 0x1p-23 * size + 1e-38) << kernels->name << ", " << x;
                ASSERT_EQ(z[1], 0);
            }
        }
    }
}

TEST(LabelVectors, EveryInstructionSetTakesEveryWidthAndFirstBit) {
    std::mt19937 random(5);
    const Labelled of(random, 1, 700);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t n : {1, 7, 8, 15, 16, 17, 33, 255, 256, 257, 600}) {
            for (std::int64_t first = 0; first < 9; ++first) {
                Owned z = Owned(1, n, 3).fill(random, 30);
                double want = 0;
                for (std::int64_t j = 0; j < n; ++j) {
                    const auto bit = [&](const std::vector<std::uint8_t>& bits) {
                        return (bits[static_cast<std::size_t>((first + j) / 8)] >> ((first + j) % 8) & 1) != 0;
                    };
                    const double t = bit(of.value) ? -z.at(0, j) : z.at(0, j);
                    if (bit(of.known)) want += std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t)));
                }
                const double loss = kernels->losses.label_row(z.view().data, n, of.bits(true), first, 1, nullptr);
                ASSERT_NEAR(loss, want, 1e-6 * (1 + want)) << kernels->name << ", " << n << " from " << first;
            }
        }
    }
}

// A network that diverged shows in the loss.
TEST_P(Labels, ANanGetsThrough) {
    Owned logits(2, 5);
    for (std::int64_t i = 0; i < 2; ++i) std::fill_n(logits.view().row(i), 5, 1.0F);
    logits.at(1, 3) = nan;
    const std::vector<std::uint8_t> split{0, 0}, value{0xff, 0xff};
    std::array<double, 1> loss{};
    run(&Table::sigmoid_cross_entropy, logits.view(), SigmoidInput{{value.data(), nullptr}, split.data(), 1, nullptr},
        std::span<double>(loss));
    EXPECT_TRUE(std::isnan(loss[0]));
}

}  // namespace
}  // namespace gnnplan::kernels::testing
