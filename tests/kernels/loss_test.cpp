#include <gtest/gtest.h>

#include <array>

#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

// exp is accurate to 1 unit of 2^-24 and the quotient takes three roundings: 1e-6 of values of at most 1.
TEST(Softmax, CpuEqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 5, 64, 333}) {
        for (const std::int64_t columns : {1, 2, 7, 8, 41, 172}) {
            std::vector<std::int32_t> label;
            std::vector<std::uint8_t> training;
            for (std::int64_t i = 0; i < rows; ++i) {
                training.push_back(random() % 3 == 0 ? 1 : 0);
                const bool labelled = training.back() == 1 || random() % 2 == 0;
                label.push_back(labelled ? static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns))
                                         : -1);
            }
            Owned got = Owned(rows, columns, 2).fill(random, 20);
            Owned want = got;
            const LossInput input = {label.data(), training.data(), 1};
            const double loss = cpu_table().softmax_cross_entropy(got.view(), input);
            const double loss_want = reference_table().softmax_cross_entropy(want.view(), input);
            EXPECT_NEAR(loss, loss_want, 1e-6 * (1 + loss_want)) << rows << " x " << columns;
            ASSERT_EQ(difference(got, want, 1e-6), "") << rows << " x " << columns;
        }
    }
}

TEST(Softmax, StaysFiniteOnHugeLogits) {
    const std::array<std::int32_t, 2> label = {1, 0};
    const std::array<std::uint8_t, 2> training = {1, 1};
    for (const Table* table : {&reference_table(), &cpu_table()}) {
        std::vector<float> z = {1e4F, -1e4F, 1e4F, 1e4F, -1e4F, -1e4F};
        const double loss = table->softmax_cross_entropy({z.data(), 2, 3, 3}, {label.data(), training.data(), 0.5});
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
