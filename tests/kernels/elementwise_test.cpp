#include <gtest/gtest.h>

#include <limits>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

const PassValues seventh = pass_values(7);

DropoutKey dropout_key(float probability) {
    DropoutKey key;
    key.seed = 42;
    key.pass = &seventh;
    key.layer = 2;
    key.probability = probability;
    return key;
}

class Activate : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Activate, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// The same single operations in the same order: equal bits, dropout decisions included.
TEST_P(Activate, EqualsReference) {
    std::mt19937 random(1);
    std::vector<std::int32_t> ids(29);
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() >> 1U);
    for (const std::int64_t rows : {0, 1, 29}) {
        for (const std::int64_t columns : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 41, 64, 100, 511, 512, 513, 602}) {
            const Owned bias = Owned(1, columns).fill(random, 3);
            for (const bool with_bias : {false, true}) {
                for (const Activation activation : {Activation::none, Activation::relu, Activation::leaky_relu}) {
                    for (const float p : {0.0F, 0.3F}) {
                        if (!takes_next()) continue;
                        Owned got = Owned(rows, columns, 5).fill(random, 9);
                        Owned want = got;
                        DropoutKey key = dropout_key(p);
                        key.first_row = 1000;
                        key.first_column = 3;
                        if (activation == Activation::relu) key.row_ids = ids.data();
                        const float* addend = with_bias ? bias.view().data : nullptr;
                        run(&Table::activate, got.view(), with_bias ? bias.span() : std::span<const float>(),
                            activation, key, nullptr);
                        reference_table().activate(want.view(), addend, activation, key, nullptr);
                        ASSERT_EQ(difference(got, want), "") << rows << " x " << columns << ", p " << p;
                    }
                }
            }
        }
    }
}

// Exponentials are not the same bits.
TEST_P(Activate, EluIsCloseToTheReference) {
    std::mt19937 random(5);
    for (const std::int64_t columns : {1, 7, 8, 16, 17, 41, 130}) {
        Owned got = Owned(29, columns, 3).fill(random, 9);
        Owned want = got;
        run(&Table::activate, got.view(), nullptr, Activation::elu, DropoutKey{}, nullptr);
        reference_table().activate(want.view(), nullptr, Activation::elu, {}, nullptr);
        for (std::int64_t i = 0; i < 29; ++i) {
            for (std::int64_t j = 0; j < columns; ++j)
                ASSERT_NEAR(got.view().row(i)[j], want.view().row(i)[j], 3e-7) << columns << " columns";
        }
    }
}

// The error is a few units in the last place for arguments of any size, and 0 keeps its sign.
TEST_P(Activate, EluHasThePrecisionOfFloats) {
    std::vector<float> arguments = {0.0F,    -0.0F,  1e-45F, -1e-45F, 1e-40F,
                                    -1e-40F, 3e38F,  -3e38F, -0.34F,  -0.35F,
                                    -1.03F,  -1.04F, -86.9F, -87.1F,  -std::numeric_limits<float>::infinity()};
    std::mt19937 random(9);
    std::uniform_real_distribution<float> part(1, 2);
    for (int exponent = -126; exponent < 127; ++exponent) {
        for (const float sign : {-1.0F, 1.0F}) arguments.push_back(sign * std::ldexp(part(random), exponent));
    }
    for (int i = 0; i < 3000; ++i) arguments.push_back(-18 * (part(random) - 1));
    const auto columns = static_cast<std::int64_t>(arguments.size());
    Owned z(1, columns);
    std::ranges::copy(arguments, z.span().begin());
    run(&Table::activate, z.view(), nullptr, Activation::elu, DropoutKey{}, nullptr);
    for (std::int64_t j = 0; j < columns; ++j) {
        const float x = arguments[static_cast<std::size_t>(j)], got = z.at(0, j);
        const double want = x > 0 ? static_cast<double>(x) : std::expm1(static_cast<double>(x));
        ASSERT_LE(std::abs(got - want), 3e-7 * std::abs(want)) << "of " << x;
        ASSERT_EQ(std::signbit(got), std::signbit(x)) << "of " << x;
    }
    Owned nan(1, 1);
    nan.at(0, 0) = std::nanf("");
    run(&Table::activate, nan.view(), nullptr, Activation::elu, DropoutKey{}, nullptr);
    EXPECT_TRUE(std::isnan(nan.at(0, 0)));
}

class ActivationGradient : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ActivationGradient, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// It equals central differences of the activation, and nothing where an element is dropped.
TEST_P(ActivationGradient, IsTheSlopeOfTheActivation) {
    constexpr std::int64_t rows = 29;
    constexpr float step = 1e-2F;
    std::mt19937 random(6);
    for (const Activation activation : {Activation::none, Activation::relu, Activation::elu, Activation::leaky_relu}) {
        for (const float p : {0.0F, 0.3F}) {
            for (const std::int64_t columns : {1, 8, 41, 130}) {
                const Owned z = Owned(rows, columns).fill(random, 2);
                const DropoutKey key = dropout_key(p);
                const auto activated = [&](float moved) {
                    Owned h = z;
                    for (std::int64_t i = 0; i < rows; ++i) {
                        for (std::int64_t j = 0; j < columns; ++j) h.view().row(i)[j] += moved;
                    }
                    run(&Table::activate, h.view(), nullptr, activation, key, nullptr);
                    return h;
                };
                Owned h = activated(0), above = activated(step), below = activated(-step);
                Owned g = Owned(rows, columns).fill(random, 2);
                const Owned of_h = g;
                const ConstMatrix made = activation == Activation::none ? ConstMatrix{} : ConstMatrix(h.view());
                run(&Table::activation_gradient, g.view(), made, activation, key);
                for (std::int64_t i = 0; i < rows; ++i) {
                    for (std::int64_t j = 0; j < columns; ++j) {
                        if (std::abs(z.view().row(i)[j]) < 2 * step) continue;  // of a kink
                        const float slope = (above.view().row(i)[j] - below.view().row(i)[j]) / (2 * step);
                        ASSERT_NEAR(g.view().row(i)[j], slope * of_h.view().row(i)[j], 1e-3)
                            << "activation " << static_cast<int>(activation) << ", p " << p;
                    }
                }
            }
        }
    }
}

class AddScaled : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, AddScaled, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(AddScaled, AndItsLikeAreThoseOfTheReference) {
    std::mt19937 random(7);
    for (const std::int64_t rows : {0, 1, 16, 29, 700}) {
        for (const std::int64_t columns : {1, 7, 16, 41, 130}) {
            const Owned a = Owned(rows, columns, 3).fill(random, 2);
            Owned got = Owned(rows, columns, 1).fill(random, 2);
            Owned want = got;
            std::array<float, 2> sums{};
            run(&Table::dot, a.view(), got.view(), std::span(sums).first(1));
            reference_table().dot(a.view(), got.view(), &sums[1]);
            EXPECT_NEAR(sums[0], sums[1], 1e-6 * static_cast<double>(rows * columns + 1));
            run(&Table::add_scaled, 1.25F, std::span(sums).last(1), a.view(), got.view());
            reference_table().add_scaled(1.25F, &sums[1], a.view(), want.view());
            run(&Table::add_scaled, 0.5F, nullptr, a.view(), got.view());
            reference_table().add_scaled(0.5F, nullptr, a.view(), want.view());
            run(&Table::blend, 0.1F, a.view(), got.view());
            reference_table().blend(0.1F, a.view(), want.view());
            if (rows == columns) {
                run(&Table::add_identity, 0.7F, got.view());
                reference_table().add_identity(0.7F, want.view());
            }
            Owned scaled(rows, columns, 2);
            run(&Table::scale, -0.3F, got.view(), scaled.view());
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < columns; ++j) {
                    ASSERT_NEAR(got.view().row(i)[j], want.view().row(i)[j], 1e-6) << rows << " x " << columns;
                    ASSERT_FLOAT_EQ(scaled.view().row(i)[j], -0.3F * got.view().row(i)[j]) << rows << " x " << columns;
                }
            }
        }
    }
}

// The bits of the same call are those of positive_mask afterwards, whatever the stride.
TEST_P(Activate, BitsAreThePositiveMaskOfTheResult) {
    std::mt19937 random(8);
    for (const std::int64_t rows : {0, 1, 7, 8, 75, 700}) {
        for (const std::int64_t columns : {0, 1, 3, 8, 16, 41, 128, 130}) {
            for (const std::int64_t padding : {0, 3, 8}) {
                if (!takes_next()) continue;
                const Owned bias = Owned(1, columns).fill(random, 3);
                const Owned z = Owned(rows, columns, padding).fill(random, 3);
                DropoutKey key = dropout_key(0.3F);
                key.first_column = padding;
                const auto size = static_cast<std::size_t>((rows * columns + 7) / 8);
                std::vector<std::uint8_t> want(size);
                Owned activated = z;
                reference_table().activate(activated.view(), bias.view().data, Activation::relu, key, nullptr);
                reference_table().positive_mask(activated.view(), want.data());
                Owned again = z;
                std::vector<std::uint8_t> got(size, 0xff);
                run(&Table::activate, again.view(), bias.span(), Activation::relu, key, std::span(got));
                ASSERT_EQ(got, want) << rows << " x " << columns;
                ASSERT_EQ(difference(again, activated), "") << rows << " x " << columns;
            }
        }
    }
}

TEST_P(Activate, LetsNanThrough) {
    for (const Activation activation : {Activation::relu, Activation::elu, Activation::leaky_relu}) {
        float z = std::numeric_limits<float>::quiet_NaN();
        run(&Table::activate, Matrix{&z, 1, 1, 1}, nullptr, activation, DropoutKey{}, nullptr);
        EXPECT_TRUE(std::isnan(z));
    }
}

class Dropout : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Dropout, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Every cut of the matrix into blocks sees the decisions of the whole.
TEST_P(Dropout, DoesNotDependOnTheBlock) {
    constexpr std::int64_t rows = 23;
    constexpr std::int64_t columns = 83;
    std::mt19937 random(2);
    Owned whole(rows, columns);
    const Owned in = Owned(rows, columns).fill(random, 9);
    run(&Table::dropout, in.view(), whole.view(), dropout_key(0.5F));
    for (const std::int64_t width : {1, 3, 7, 8, 9, 41}) {
        for (const std::int64_t height : {1, 5, 23}) {
            Owned blocks(rows, columns);
            for (std::int64_t i = 0; i < rows; i += height) {
                for (std::int64_t j = 0; j < columns; j += width) {
                    DropoutKey key = dropout_key(0.5F);
                    key.first_row = i;
                    key.first_column = j;
                    const std::int64_t h = std::min(height, rows - i);
                    const std::int64_t w = std::min(width, columns - j);
                    run(&Table::dropout, ConstMatrix{in.view().row(i) + j, h, w, columns},
                        Matrix{blocks.view().row(i) + j, h, w, columns}, key);
                }
            }
            ASSERT_EQ(difference(blocks, whole), "") << "blocks " << height << " x " << width;
        }
    }
}

// Rows in any order, and rows that follow each other nowhere, see the decisions of their global rows.
TEST_P(Dropout, RowIdsTakeTheirRowsDecisions) {
    constexpr std::int64_t rows = 70;
    std::vector<std::int32_t> ids(rows);
    for (std::int32_t i = 0; i < rows; ++i) ids[static_cast<std::size_t>(i)] = (i * 29 + 3) % 70;  // coprime
    for (const std::int64_t columns : {1, 8, 41, 513}) {
        std::mt19937 random(7);
        const Owned in = Owned(rows, columns).fill(random, 9);
        Owned shuffled(rows, columns);
        for (std::int64_t i = 0; i < rows; ++i) {
            std::copy_n(in.view().row(ids[static_cast<std::size_t>(i)]), columns, shuffled.view().row(i));
        }
        DropoutKey key = dropout_key(0.5F);
        key.first_column = 3;
        Owned want(rows, columns);
        run(&Table::dropout, in.view(), want.view(), key);
        key.first_row = 12345;  // of no account when there are ids
        key.row_ids = ids.data();
        Owned dropped(rows, columns);
        run(&Table::dropout, shuffled.view(), dropped.view(), key);
        run(&Table::activate, shuffled.view(), nullptr, Activation::none, key, nullptr);
        for (std::int64_t i = 0; i < rows; ++i) {
            const float* expected = want.view().row(ids[static_cast<std::size_t>(i)]);
            ASSERT_TRUE(std::equal(expected, expected + columns, dropped.view().row(i)));
            ASSERT_TRUE(std::equal(expected, expected + columns, shuffled.view().row(i)));
        }
    }
}

TEST_P(Dropout, DependsOnSeedEpochAndLayer) {
    Owned ones(10, 64);
    for (std::int64_t i = 0; i < 10; ++i) std::fill_n(ones.view().row(i), 64, 1.0F);
    const auto dropped = [&](const DropoutKey& key) {
        Owned out(10, 64);
        run(&Table::dropout, ones.view(), out.view(), key);
        return out;
    };
    const DropoutKey key = dropout_key(0.5F);
    DropoutKey other = key;
    other.seed = 43;
    EXPECT_NE(difference(dropped(other), dropped(key)), "");
    other = key;
    const PassValues eighth = pass_values(8);
    other.pass = &eighth;
    EXPECT_NE(difference(dropped(other), dropped(key)), "");
    other = key;
    other.layer = 3;
    EXPECT_NE(difference(dropped(other), dropped(key)), "");
    EXPECT_EQ(difference(dropped(key), dropped(key)), "");
}

TEST_P(Dropout, ProbabilityZeroCopies) {
    std::mt19937 random(3);
    const Owned in = Owned(4, 9, 2).fill(random, 9);
    Owned out(4, 9, 1);
    run(&Table::dropout, in.view(), out.view(), dropout_key(0));
    EXPECT_EQ(difference(out, in), "");
}

}  // namespace
}  // namespace gnnplan::kernels::testing
