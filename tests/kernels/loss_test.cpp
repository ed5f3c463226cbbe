#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

// 5 units of 2^-23, see below, of values of at most 1: 1e-6.
TEST(Softmax, CpuEqualsReference) {
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
            Owned got = Owned(rows, columns, 2).fill(random, 20);
            Owned want = got;
            const LossInput input = {label.data(), split.data(), 1};
            const double loss = loss_of(cpu_table(), got.view(), input);
            const double loss_want = loss_of(reference_table(), want.view(), input);
            EXPECT_NEAR(loss, loss_want, 1e-6 * (1 + loss_want)) << rows << " x " << columns;
            ASSERT_EQ(difference(got, want, 1e-6), "") << rows << " x " << columns;
        }
    }
}

// One logit at 0 makes the softmax of another the exponential over 1 + that. e^x to 2 units in the last place (2^-23 of
// the value at most), the same in the sum, and two roundings: 5 units. Below -87 it counts as 0.
TEST(Softmax, ExponentialOfEveryInstructionSet) {
    for (const auto* kernels : cpu::supported_kernels()) {
        for (int i = 0; i < 20000; ++i) {
            const float x = -0.0045F * static_cast<float>(i);
            for (const std::int64_t n : {2, 19}) {
                std::vector<float> z(static_cast<std::size_t>(n), -200.0F);
                z.front() = 0;
                z.back() = x;
                kernels->softmax_row(z.data(), n, 0, 1);
                const double e = std::exp(static_cast<double>(x));
                const double want = x < -87.0F ? 0.0 : e / (1 + e);
                ASSERT_NEAR(z.back(), want, 5 * 0x1p-23 * want) << kernels->name << ", e^" << x << ", " << n;
            }
        }
    }
}

TEST(Softmax, EveryInstructionSetTakesEveryWidth) {
    std::mt19937 random(3);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (std::int64_t n = 1; n <= 70; ++n) {
            Owned got = Owned(1, n, 3).fill(random, 9);
            Owned want = got;
            const auto label = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n));
            const double loss = kernels->softmax_row(got.view().data, n, label, 0.25);
            const double loss_want = loss_of(reference_table(), want.view(), {&label, &training_split, 0.25});
            EXPECT_NEAR(loss, loss_want, 1e-6 * (1 + loss_want)) << kernels->name << ", " << n;
            ASSERT_EQ(difference(got, want, 1e-6), "") << kernels->name << ", " << n;
        }
    }
}

// Columns cut in two, joined: what one rank with all columns gets.
TEST(Softmax, PartsMakeTheWhole) {
    std::mt19937 random(4);
    for (const Table* table : {&reference_table(), &cpu_table()}) {
        for (const std::int64_t columns : {1, 2, 7, 41, 100}) {
            const std::int64_t rows = 70;
            const std::int64_t cut = columns / 2;
            std::vector<std::int32_t> label;
            std::vector<std::uint8_t> split;
            for (std::int64_t i = 0; i < rows; ++i) {
                split.push_back(random() % 3 == 0 ? 2 : training_split);
                label.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns)));
            }
            Owned got = Owned(rows, columns, 0).fill(random, 20);
            Owned want = got;
            const double loss_want = loss_of(reference_table(), want.view(), {label.data(), split.data(), 0.5});

            const Matrix all = got.view();
            const Matrix left{all.data, rows, cut, all.stride};
            const Matrix right{all.data + cut, rows, columns - cut, all.stride};
            std::vector<SoftmaxPart> parts(static_cast<std::size_t>(2 * rows), {3, 3});
            table->softmax_parts(left, split.data(), parts.data());
            table->softmax_parts(right, split.data(), parts.data() + rows);
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const bool trains = split[i % split.size()] == training_split;
                ASSERT_TRUE(trains || (parts[i].sum == 0 && std::isinf(parts[i].largest)));
            }
            table->softmax_totals(parts.data(), rows, 2, parts.data());
            std::array<double, 2> loss{};
            table->softmax_gradient(left, {label.data(), split.data(), 0.5}, parts.data(), &loss[0]);
            table->softmax_gradient(right, {label.data(), split.data(), 0.5, cut}, parts.data(), &loss[1]);
            EXPECT_NEAR(loss[0] + loss[1], loss_want, 1e-6 * (1 + loss_want)) << table->name << ", " << columns;
            ASSERT_EQ(difference(got, want, 1e-6), "") << table->name << ", " << columns;
        }
    }
}

// A diverged network must show in the loss.
TEST(Softmax, NanReachesTheLoss) {
    const std::int32_t label = 0;
    for (const Table* table : {&reference_table(), &cpu_table()}) {
        for (const std::size_t where : {0, 1, 20}) {
            std::vector<float> z(21, 1.0F);
            z[where] = std::numeric_limits<float>::quiet_NaN();
            EXPECT_TRUE(std::isnan(loss_of(*table, {z.data(), 1, 21, 21}, {&label, &training_split, 1})))
                << table->name << ", " << where;
        }
    }
}

TEST(Softmax, NanInOnePartReachesTheLossOfTheOther) {
    const std::int32_t label = 0;
    for (const Table* table : {&reference_table(), &cpu_table()}) {
        std::vector<float> z(5, std::numeric_limits<float>::quiet_NaN());
        std::vector<float> here(3, 1.0F);
        std::array<SoftmaxPart, 2> parts;
        table->softmax_parts({here.data(), 1, 3, 3}, &training_split, &parts[0]);
        table->softmax_parts({z.data(), 1, 5, 5}, &training_split, &parts[1]);
        EXPECT_TRUE(std::isnan(parts[1].sum)) << table->name;
        table->softmax_totals(parts.data(), 1, 2, parts.data());
        double loss = 0;
        table->softmax_gradient({here.data(), 1, 3, 3}, {&label, &training_split, 1}, parts.data(), &loss);
        EXPECT_TRUE(std::isnan(loss)) << table->name;
    }
}

TEST(Softmax, StaysFiniteOnHugeLogits) {
    const std::array<std::int32_t, 2> label = {1, 0};
    const std::array<std::uint8_t, 2> split = {training_split, training_split};
    for (const Table* table : {&reference_table(), &cpu_table()}) {
        std::vector<float> z = {1e4F, -1e4F, 1e4F, 1e4F, -1e4F, -1e4F};
        const double loss = loss_of(*table, {z.data(), 2, 3, 3}, {label.data(), split.data(), 0.5});
        EXPECT_NEAR(loss, 2e4 + std::log(2.0), 1e-8) << table->name;
        const std::vector<float> want = {0.25F, -0.5F, 0.25F, 0, 0, 0};
        EXPECT_EQ(z, want) << table->name;
    }
}

TEST(CountCorrect, CpuEqualsReference) {
    std::mt19937 random(2);
    for (const std::int64_t rows : {0, 1, 100, 1000}) {
        for (const std::int64_t columns : {1, 3, 41}) {
            std::vector<std::int32_t> label;
            std::vector<std::uint8_t> subset;
            for (std::int64_t i = 0; i < rows; ++i) {
                label.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns + 1)) - 1);
                subset.push_back(static_cast<std::uint8_t>(random() % 5));
            }
            const Owned logits = Owned(rows, columns, 1).fill(random, 2);  // ties are frequent
            std::array<double, 3> got = {1, 2, 3};
            std::array<double, 3> want = got;
            cpu_table().count_correct(logits.view(), label.data(), subset.data(), got.data());
            reference_table().count_correct(logits.view(), label.data(), subset.data(), want.data());
            EXPECT_EQ(got, want) << rows << " x " << columns;
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
