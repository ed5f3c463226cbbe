#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

class Softmax : public OnDevice {
protected:
    // Replaces the logits by their gradient.
    double loss_here(Matrix logits, std::span<const std::int32_t> label, std::span<const std::uint8_t> split,
                     double inverse_training_count, const float* weight = nullptr) {
        double loss = -1;
        run(&Table::softmax_cross_entropy, logits,
            LossInput{label.data(), split.data(), inverse_training_count, 0, weight}, std::span(&loss, 1));
        return loss;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, Softmax, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// 5 units of 2^-23, see below, of values of at most 1: 1e-6.
TEST_P(Softmax, EqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 5, 64, 333}) {
        for (const std::int64_t columns : {1, 2, 7, 8, 41, 172}) {
            std::vector<std::int32_t> label;
            std::vector<std::uint8_t> split;
            for (std::int64_t i = 0; i < rows; ++i) {
                split.push_back(static_cast<std::uint8_t>(random() % 3));
                const bool labelled = split.back() == training_split || random() % 2 == 0;
                label.push_back(labelled ? static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns))
                                         : -1);
            }
            // Some rows count as less than others, or not at all.
            std::vector<float> weight;
            for (std::int64_t i = 0; i < rows; ++i) weight.push_back(static_cast<float>(random() % 4) / 4);
            const float* const weights = columns % 2 == 0 ? weight.data() : nullptr;
            Owned got = Owned(rows, columns, 2).fill(random, 20);
            Owned want = got;
            const LossInput input = {label.data(), split.data(), 1, 0, weights};
            const double loss = loss_here(got.view(), label, split, 1, weights);
            const double loss_want = loss_of(reference_table(), want.view(), input);
            EXPECT_NEAR(loss, loss_want, 1e-6 * (1 + loss_want)) << rows << " x " << columns;
            ASSERT_EQ(difference(got, want, 1e-6), "") << rows << " x " << columns;
        }
    }
}

// One logit at 0 makes the softmax of another the exponential over 1 + that. e^x to 2 units in the last place (2^-23 of
// the value at most), the same in the sum, and two roundings: 5 units. Below -87 it counts as 0.
TEST(SoftmaxVectors, ExponentialOfEveryInstructionSet) {
    for (const auto* kernels : cpu::supported_kernels()) {
        for (int i = 0; i < 20000; ++i) {
            const float x = -0.0045F * static_cast<float>(i);
            for (const std::int64_t n : {2, 19}) {
                std::vector<float> z(static_cast<std::size_t>(n), -200.0F);
                z.front() = 0;
                z.back() = x;
                kernels->losses.softmax_row(z.data(), n, 0, 1);
                const double e = std::exp(static_cast<double>(x));
                const double want = x < -87.0F ? 0.0 : e / (1 + e);
                ASSERT_NEAR(z.back(), want, 5 * 0x1p-23 * want) << kernels->name << ", e^" << x << ", " << n;
            }
        }
    }
}

TEST(SoftmaxVectors, EveryInstructionSetTakesEveryWidth) {
    std::mt19937 random(3);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (std::int64_t n = 1; n <= 70; ++n) {
            Owned got = Owned(1, n, 3).fill(random, 9);
            Owned want = got;
            const auto label = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n));
            const double loss = kernels->losses.softmax_row(got.view().data, n, label, 0.25);
            const double loss_want = loss_of(reference_table(), want.view(), {&label, &training_split, 0.25});
            EXPECT_NEAR(loss, loss_want, 1e-6 * (1 + loss_want)) << kernels->name << ", " << n;
            ASSERT_EQ(difference(got, want, 1e-6), "") << kernels->name << ", " << n;
        }
    }
}

// Columns cut in two, joined: what one rank with all columns gets.
TEST_P(Softmax, PartsMakeTheWhole) {
    std::mt19937 random(4);
    for (const std::int64_t columns : {1, 2, 7, 41, 100}) {
        const std::int64_t rows = 70;
        const std::int64_t cut = columns / 2;
        std::vector<std::int32_t> label;
        std::vector<std::uint8_t> split;
        std::vector<float> weight;
        for (std::int64_t i = 0; i < rows; ++i) {
            split.push_back(random() % 3 == 0 ? 2 : training_split);
            label.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns)));
            weight.push_back(static_cast<float>(random() % 4) / 4);
        }
        Owned got = Owned(rows, columns, 0).fill(random, 20);
        Owned want = got;
        const double loss_want =
            loss_of(reference_table(), want.view(), {label.data(), split.data(), 0.5, 0, weight.data()});

        const Matrix all = got.view();
        const Matrix left{all.data, rows, cut, all.stride};
        const Matrix right{all.data + cut, rows, columns - cut, all.stride};
        std::vector<SoftmaxPart> parts(static_cast<std::size_t>(2 * rows), {3, 3});
        const auto all_parts = std::span(parts);
        const auto half = static_cast<std::size_t>(rows);
        run(&Table::softmax_parts, left, std::span(split), all_parts.first(half));
        run(&Table::softmax_parts, right, std::span(split), all_parts.last(half));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool trains = split[i % split.size()] == training_split;
            ASSERT_TRUE(trains || (parts[i].others == 0 && std::isinf(parts[i].largest)));
        }
        run(&Table::softmax_totals, all_parts, rows, 2, InPlace{});
        std::array<double, 2> loss{};
        run(&Table::softmax_gradient, left, LossInput{label.data(), split.data(), 0.5, 0, weight.data()},
            all_parts.first(half), std::span(loss).first(1));
        run(&Table::softmax_gradient, right, LossInput{label.data(), split.data(), 0.5, cut, weight.data()},
            all_parts.first(half), std::span(loss).last(1));
        EXPECT_NEAR(loss[0] + loss[1], loss_want, 1e-6 * (1 + loss_want)) << columns;
        ASSERT_EQ(difference(got, want, 1e-6), "") << columns;
    }
}

// The loss of a row that is fitted well is about the sum of the other exponentials, and its gradient at the label is
// that sum / the number of rows, however small: in one matrix, and when cut between the label and the others.
TEST_P(Softmax, OfAFittedRowKeepsItsPrecision) {
    const std::int32_t label = 2;
    const std::span<const std::uint8_t> split(&training_split, 1);
    for (const float others : {0.0F, -1.0F, -5.0F, -18.0F, -40.0F, -80.0F}) {
        double sum = 0;
        std::vector<float> z{others - 1, others, 3.0F, others + 0.5F, others};
        for (const std::size_t j : {0, 1, 3, 4}) sum += std::exp(static_cast<double>(z[j]) - 3);
        const double loss_want = std::log1p(sum), at_label = -sum / (1 + sum) / 2;
        std::vector<float> row = z;
        EXPECT_NEAR(loss_here({row.data(), 1, 5, 5}, {&label, 1}, split, 0.5) / loss_want, 1, 1e-6) << others;
        EXPECT_NEAR(row[2] / at_label, 1, 1e-6) << others;

        const Matrix left{z.data(), 1, 2, 5}, right{z.data() + 2, 1, 3, 5};
        std::array<SoftmaxPart, 2> parts;
        run(&Table::softmax_parts, left, split, std::span(parts).first(1));
        run(&Table::softmax_parts, right, split, std::span(parts).last(1));
        SoftmaxPart total;
        run(&Table::softmax_totals, std::span<const SoftmaxPart>(parts), 1, 2, std::span(&total, 1));
        double loss = 0;
        run(&Table::softmax_gradient, right, LossInput{&label, &training_split, 0.5, 2}, std::span(&total, 1),
            std::span(&loss, 1));
        EXPECT_NEAR(loss / loss_want, 1, 1e-6) << others;
        EXPECT_NEAR(z[2] / at_label, 1, 1e-6) << others;
    }
}

// A diverged network must show in the loss.
TEST_P(Softmax, NanReachesTheLoss) {
    const std::int32_t label = 0;
    for (const std::size_t where : {0, 1, 20}) {
        std::vector<float> z(21, 1.0F);
        z[where] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(std::isnan(loss_here({z.data(), 1, 21, 21}, {&label, 1}, {&training_split, 1}, 1))) << where;
    }
}

TEST_P(Softmax, NanInOnePartReachesTheLossOfTheOther) {
    const std::int32_t label = 0;
    std::vector<float> z(5, std::numeric_limits<float>::quiet_NaN());
    std::vector<float> here(3, 1.0F);
    std::array<SoftmaxPart, 2> parts;
    const std::span<const std::uint8_t> split(&training_split, 1);
    run(&Table::softmax_parts, Matrix{here.data(), 1, 3, 3}, split, std::span(parts).first(1));
    run(&Table::softmax_parts, Matrix{z.data(), 1, 5, 5}, split, std::span(parts).last(1));
    EXPECT_TRUE(std::isnan(parts[1].others));
    SoftmaxPart total;
    run(&Table::softmax_totals, std::span<const SoftmaxPart>(parts), 1, 2, std::span(&total, 1));
    double loss = 0;
    run(&Table::softmax_gradient, Matrix{here.data(), 1, 3, 3}, LossInput{&label, &training_split, 1},
        std::span(&total, 1), std::span(&loss, 1));
    EXPECT_TRUE(std::isnan(loss));
}

TEST_P(Softmax, StaysFiniteOnHugeLogits) {
    const std::array<std::int32_t, 2> label = {1, 0};
    const std::array<std::uint8_t, 2> split = {training_split, training_split};
    std::vector<float> z = {1e4F, -1e4F, 1e4F, 1e4F, -1e4F, -1e4F};
    const double loss = loss_here({z.data(), 2, 3, 3}, label, split, 0.5);
    EXPECT_NEAR(loss, 2e4 + std::log(2.0), 1e-8);
    const std::vector<float> want = {0.25F, -0.5F, 0.25F, 0, 0, 0};
    EXPECT_EQ(z, want);
}

class CountCorrect : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CountCorrect, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Labels from -1 on, which is none, and splits from 0 on.
struct Judged {
    Judged(std::mt19937& random, std::int64_t rows, std::int64_t columns, unsigned splits) {
        for (std::int64_t i = 0; i < rows; ++i) {
            label.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns + 1)) - 1);
            split.push_back(static_cast<std::uint8_t>(random() % splits));
        }
    }
    std::vector<std::int32_t> label;
    std::vector<std::uint8_t> split;
};

TEST_P(CountCorrect, EqualsReference) {
    std::mt19937 random(2);
    for (const std::int64_t rows : {0, 1, 100, 1000}) {
        for (const std::int64_t columns : {1, 3, 41}) {
            const auto [label, subset] = Judged(random, rows, columns, 5);
            const Owned logits = Owned(rows, columns, 1).fill(random, 2);  // ties are frequent
            std::array<double, 3> got = {1, 2, 3};
            std::array<double, 3> want = got;
            run(&Table::count_correct, logits.view(), std::span<const std::int32_t>(label),
                std::span<const std::uint8_t>(subset), std::span<double>(got));
            reference_table().count_correct(logits.view(), label.data(), subset.data(), want.data());
            EXPECT_EQ(got, want) << rows << " x " << columns;
        }
    }
}

// A NaN is greater than nothing, and nothing is greater than it: it counts as the largest where it is the first alone.
TEST_P(CountCorrect, OfNans) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    Owned logits(3, 40);
    for (std::int64_t i = 0; i < 3; ++i) std::fill_n(logits.view().row(i), 40, 1.0F);
    logits.at(0, 0) = logits.at(1, 5) = nan;
    logits.at(0, 35) = logits.at(1, 35) = 2;
    std::fill_n(logits.view().row(2), 40, -std::numeric_limits<float>::infinity());
    const std::vector<std::int32_t> label = {0, 35, 0};
    const std::vector<std::uint8_t> split = {0, 1, 2};
    std::array<double, 3> got{};
    run(&Table::count_correct, logits.view(), std::span(label), std::span(split), std::span<double>(got));
    EXPECT_EQ(got, (std::array<double, 3>{1, 1, 1}));
}

TEST_P(CountCorrect, CrossEntropyOfASplitIsThatOfTheReference) {
    std::mt19937 random(3);
    for (const std::int64_t rows : {0, 1, 100, 1000}) {
        for (const std::int64_t columns : {1, 3, 41}) {
            const auto [label, split] = Judged(random, rows, columns, 4);
            Owned logits = Owned(rows, columns, 1).fill(random, 30);
            if (rows > 0) logits.at(0, 0) = 1e30F;  // whose exponential no float has
            for (std::uint8_t of = 0; of < 3; ++of) {
                std::array<double, 1> got = {7};
                double want = 7;
                run(&Table::cross_entropy, logits.view(), std::span<const std::int32_t>(label),
                    std::span<const std::uint8_t>(split), of, std::span<double>(got));
                reference_table().cross_entropy(logits.view(), label.data(), split.data(), of, &want);
                EXPECT_NEAR(got[0], want, 1e-6 * std::abs(want)) << rows << " x " << columns;
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
