#include "kernels/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "kernels/cpu/vector.hpp"
#include "kernels/stream.hpp"
#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

TEST(Random, PhiloxKnownAnswer) {
    // Random123's kat_vectors for philox4x32 10: counter 0, key 0.
    const std::array<std::uint32_t, 4> want = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    EXPECT_EQ(stream_words({0, 0}, 0, 0), want);
    // Counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0.
    const std::array<std::uint32_t, 4> pi = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    EXPECT_EQ(stream_words({0xa4093822, 0x299f31d0}, 0x0370734413198a2e, 0x85a308d3243f6a88), pi);
}

TEST(Random, VectorisedDrawsEqualPhilox) {
    const StreamKey key = stream_key(7, StreamUse::dropout, 3, 2);
    const std::int64_t row = (std::int64_t{5} << 32) - 1;  // the carry into the high word must be right
    for (const auto* kernels : cpu::supported_kernels()) {
        std::array<std::uint16_t, cpu::draw_columns> draws{};
        kernels->dropout_draws(key, {row, nullptr}, 3, 11, 7, draws.data());
        for (std::int64_t r = 0; r < 3; ++r) {
            for (std::int64_t g = 0; g < 7; ++g) {
                const auto words =
                    stream_words(key, static_cast<std::uint64_t>(row + r), static_cast<std::uint64_t>(11 + g));
                for (std::size_t lane = 0; lane < 8; ++lane) {
                    const auto want = static_cast<std::uint16_t>(words[lane / 2] >> (16 * (lane % 2)));
                    ASSERT_EQ(draws[static_cast<std::size_t>((r * 7 + g) * 8) + lane], want) << kernels->name;
                }
            }
        }
    }
}

TEST(Random, StreamsDiffer) {
    std::set<std::uint64_t> seen;
    for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32U}) {
        for (const std::uint32_t stream : {0U, 1U, 2U}) {
            for (const std::uint64_t row : {0ULL, 1ULL, 1ULL << 40U}) {
                for (const std::uint64_t column : {0ULL, 1ULL, 1ULL << 40U}) {
                    seen.insert(random_bits(seed, stream, row, column));
                }
            }
        }
    }
    EXPECT_EQ(seen.size(), 81U);
    const StreamKey draws = stream_key(1, StreamUse::draws, 1, 0);
    const StreamKey weights = stream_key(1, StreamUse::weights, 1, 0);
    EXPECT_NE(draws.low, weights.low);
}

TEST(Random, UnitDrawsAreUniform) {
    constexpr int count = 100000;
    double sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const float u = random_unit(3, 1, i, 0);
        ASSERT_GE(u, 0);
        ASSERT_LT(u, 1);
        sum += static_cast<double>(u);
    }
    // Standard deviation of the mean: sqrt(1 / 12 / count) = 9.1e-4; five of them.
    EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
}

TEST(Random, GlorotBoundsAndMean) {
    Owned w(300, 100, 3);
    glorot_uniform(5, 2, w.view());
    EXPECT_TRUE(w.padding_untouched());
    const float bound = std::sqrt(6.0F / 400.0F);
    double sum = 0;
    float largest = 0;
    for (std::int64_t i = 0; i < 300; ++i) {
        for (std::int64_t j = 0; j < 100; ++j) {
            largest = std::max(largest, std::abs(w.at(i, j)));
            sum += static_cast<double>(w.at(i, j));
        }
    }
    EXPECT_LE(largest, bound);
    EXPECT_GT(largest, 0.999F * bound);  // of 30000 draws all are below this with probability 1e-13
    // Standard deviation of one weight is bound / sqrt(3); five of the mean's.
    EXPECT_NEAR(sum / 30000, 0, 5 * static_cast<double>(bound) / std::sqrt(3.0 * 30000));

    Owned other(300, 100, 3);
    glorot_uniform(5, 3, other.view());
    EXPECT_NE(difference(other, w), "") << "layers share their weights";
    glorot_uniform(6, 2, other.view());
    EXPECT_NE(difference(other, w), "") << "seeds share their weights";
    glorot_uniform(5, 2, other.view());
    EXPECT_EQ(difference(other, w), "");
}

TEST(Random, DropoutThresholdRoundsAndLeavesSurvivors) {
    EXPECT_EQ(dropout_threshold(0), 0U);
    EXPECT_EQ(dropout_threshold(0.5F), 32768U);
    EXPECT_EQ(dropout_threshold(0.1F), 6554U);
    EXPECT_EQ(dropout_threshold(0.9999999F), 65535U);
}

// The number kept of n independent elements is binomial, so it lies within five standard
// deviations, 5 * sqrt(n p (1 - p)), of n (1 - p), but for a chance of 6e-7; the seed is fixed.
TEST(Random, DropoutKeepRate) {
    for (const float p : {0.1F, 0.5F, 0.8F}) {
        Owned ones(500, 203);
        for (std::int64_t i = 0; i < 500; ++i) std::fill_n(ones.view().row(i), 203, 1.0F);
        Owned out(500, 203);
        DropoutKey key;
        key.seed = 11;
        const PassValues pass = pass_values(4);
        key.pass = &pass;
        key.layer = 1;
        key.probability = p;
        cpu_table().dropout(ones.view(), out.view(), key);
        double kept = 0;
        for (std::int64_t i = 0; i < 500; ++i) {
            for (std::int64_t j = 0; j < 203; ++j) kept += out.at(i, j) != 0 ? 1 : 0;
        }
        const double n = 500 * 203;
        const double probability = static_cast<double>(p);
        EXPECT_NEAR(kept, n * (1 - probability), 5 * std::sqrt(n * probability * (1 - probability))) << p;
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
