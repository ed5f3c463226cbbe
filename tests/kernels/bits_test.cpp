#include <gtest/gtest.h>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

using PackedBits = std::vector<std::uint8_t>;

// Exactly as many bytes as the bits need: a sanitizer build sees every byte too many.
std::size_t bytes_of(std::int64_t bits) { return static_cast<std::size_t>((bits + 7) / 8); }

PackedBits random_bytes(std::mt19937& random, std::int64_t bits) {
    PackedBits bytes(bytes_of(bits));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

class Masks : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Masks, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Masks, EqualReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 2, 7, 8, 9, 75}) {
        for (const std::int64_t columns : {0, 1, 3, 7, 8, 9, 16, 41, 64, 130, 1025}) {
            for (const std::int64_t padding : {0, 3}) {
                if (!takes_next()) continue;
                const Owned h = Owned(rows, columns, padding).fill(random, 1);
                PackedBits got(bytes_of(rows * columns), 0xff);
                PackedBits want(bytes_of(rows * columns), 0xff);
                run(&Table::positive_mask, h.view(), std::span(got));
                reference_table().positive_mask(h.view(), want.data());
                ASSERT_EQ(got, want) << rows << " x " << columns << ", padding " << padding;

                Owned g = Owned(rows, columns, padding).fill(random, 9);
                Owned g_want = g;
                run(&Table::apply_mask, g.view(), std::span<const std::uint8_t>(got), 0.5F);
                reference_table().apply_mask(g_want.view(), got.data(), 0.5F);
                ASSERT_EQ(difference(g, g_want), "") << rows << " x " << columns << ", padding " << padding;
            }
        }
    }
}

TEST(MaskVectors, EveryInstructionSetPacksAndAppliesTails) {
    std::mt19937 random(2);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (std::int64_t n = 0; n <= 70; ++n) {
            const Owned h = Owned(1, n).fill(random, 1);
            PackedBits got(bytes_of(n), 0xff);
            PackedBits want(bytes_of(n), 0xff);
            kernels->pack_positive(h.view().data, n, got.data());
            reference_table().positive_mask(h.view(), want.data());
            ASSERT_EQ(got, want) << kernels->name << ", " << n;
            for (std::int64_t first = 0; first < 9; ++first) {
                const PackedBits bits = random_bytes(random, first + n);
                Owned g = Owned(1, n, 1).fill(random, 9);
                Owned g_want = g;
                for (std::int64_t j = 0; j < n; ++j) {
                    const std::int64_t at = first + j;
                    const bool on = (bits[static_cast<std::size_t>(at / 8)] >> (at % 8) & 1) != 0;
                    g_want.at(0, j) = on ? g.at(0, j) * 2 : 0;
                }
                kernels->apply_bits(g.view().data, n, bits.data(), first, 2);
                ASSERT_EQ(difference(g, g_want), "") << kernels->name << ", " << n << " from bit " << first;
            }
        }
    }
}

// A bit matrix as booleans, the oracle of copy_bits.
std::vector<bool> to_bools(const PackedBits& bytes, std::int64_t bits) {
    std::vector<bool> result;
    for (std::int64_t i = 0; i < bits; ++i) {
        result.push_back((bytes[static_cast<std::size_t>(i / 8)] >> (i % 8) & 1) != 0);
    }
    return result;
}

class CopyBits : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyBits, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(CopyBits, RandomBlocksAgainstBooleans) {
    std::mt19937 random(3);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int trial = 0; trial < 3000; ++trial) {
        if (!takes_next()) continue;
        const std::int64_t rows = pick(0, 12);
        const std::int64_t columns = pick(0, 70);
        const std::int64_t source_row = pick(0, 9);
        const std::int64_t source_column = pick(0, 20);
        const std::int64_t target_row = pick(0, 9);
        const std::int64_t target_column = pick(0, 20);
        const std::int64_t source_columns = source_column + columns + pick(0, 20);
        const std::int64_t target_columns = target_column + columns + pick(0, 20);
        const std::int64_t source_bits = (source_row + rows) * source_columns;
        const std::int64_t target_bits = (target_row + rows + pick(0, 2)) * target_columns;
        const PackedBits source = random_bytes(random, source_bits);
        PackedBits target = random_bytes(random, target_bits);
        PackedBits by_reference = target;

        std::vector<bool> want = to_bools(target, target_bits);
        const std::vector<bool> from = to_bools(source, source_bits);
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                want[static_cast<std::size_t>((target_row + i) * target_columns + target_column + j)] =
                    from[static_cast<std::size_t>((source_row + i) * source_columns + source_column + j)];
            }
        }
        run(&Table::copy_bits, std::span(source), source_columns, source_row, source_column, std::span(target),
            target_columns, target_row, target_column, rows, columns);
        reference_table().copy_bits(source.data(), source_columns, source_row, source_column, by_reference.data(),
                                    target_columns, target_row, target_column, rows, columns);
        ASSERT_EQ(to_bools(target, target_bits), want) << "trial " << trial;
        ASSERT_EQ(target, by_reference) << "trial " << trial;
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
