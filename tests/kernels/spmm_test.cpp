#include <gtest/gtest.h>

#include <gnnplan/base/blocking.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/room_support.hpp"

namespace gnnplan::kernels::testing {
namespace {

std::vector<std::int64_t> widths() {
    std::vector<std::int64_t> result;
    for (std::int64_t w = 0; w <= 70; ++w) result.push_back(w);
    for (const std::int64_t w : {127, 128, 129, 255, 256, 257, 271, 272, 273, 512, 602}) result.push_back(w);
    return result;
}

struct Case {
    std::string name;
    OwnedCsr matrix;
};

// One pattern of rows x 50 in every form a matrix comes in: 1 .. 5 panels, uneven and empty ones too; values, scales,
// one scale, ones.
std::vector<Case> forms(std::mt19937& random, std::int64_t rows) {
    const std::vector<std::vector<std::int64_t>> panels = {
        {0}, {0, 25}, {0, 1, 49}, {0, 0, 20, 20}, {0, 7, 30, 31, 50}};
    const OwnedCsr valued = random_csr(random, rows, 50);
    const std::vector<Case> one_panel = {{"values", valued},
                                         {"both scales", factored(valued, random, true, true)},
                                         {"row scale", factored(valued, random, true, false)},
                                         {"column scale", factored(valued, random, false, true)},
                                         {"ones", factored(valued, random, false, false)}};
    std::vector<Case> result;
    for (const Case& form : one_panel) {
        for (const auto& begins : panels) {
            result.push_back(
                {form.name + ", " + std::to_string(begins.size()) + " panels", in_panels(form.matrix, begins)});
        }
    }
    return result;
}

class Spmm : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Spmm, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Sums of at most 200 products of integers up to 3 * 3 * 3 are exact in float, in every order: equality is asked for.
TEST_P(Spmm, EqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 37}) {
        for (const Case& form : forms(random, rows)) {
            for (const std::int64_t width : widths()) {
                if (!takes_next()) continue;
                const bool accumulate = random() % 2 == 0;
                const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
                const Owned b = Owned(50, width, padding).fill(random, 3);
                Owned got = Owned(rows, width, padding).fill(random, 9);
                Owned want = got;
                run(&Table::spmm, form.matrix.view(), b.view(), got.view(), accumulate, PanelRoom{});
                reference_table().spmm(form.matrix.view(), b.view(), want.view(), accumulate, {});
                ASSERT_EQ(difference(got, want), "") << rows << " rows, width " << width << ", padding " << padding
                                                     << ", accumulate " << accumulate << ", " << form.name;
            }
        }
    }
}

// The rows of B that each panel meets packed; nothing behind the room is written.
TEST_P(Spmm, PackedPanelsEqualUnpackedOnes) {
    std::mt19937 random(6);
    for (const std::int64_t panels : {1, 2, 3, 7}) {
        const OwnedCsr valued = evenly_cut(random, panels);
        const std::vector<OwnedCsr> forms = {valued, factored(valued, random, true, true),
                                             factored(valued, random, false, false)};
        for (const std::int64_t width : {1, 15, 16, 41, 64, 128, 161, 256, 320, 602}) {
            if (!takes_next()) continue;
            const GuardedRoom room(blockings[random() % 2], panels, width, false);
            const Owned b = Owned(50, width, 3).fill(random, 3);
            for (const OwnedCsr& a : forms) {
                for (const bool accumulate : {false, true}) {
                    // Rows are aligned, whatever the width.
                    Owned got = Owned(23, width, (4 - width % 4) % 4).fill(random, 9);
                    Owned want = got;
                    run(&Table::spmm, a.view(), b.view(), got.view(), accumulate, room.view());
                    run(&Table::spmm, a.view(), b.view(), want.view(), accumulate, PanelRoom{});
                    ASSERT_EQ(difference(got, want), "") << panels << " panels, width " << width;
                    ASSERT_TRUE(room.intact_behind());
                }
            }
        }
    }
}

TEST(SpmmVectors, PacksWhereThereIsRoom) {
    std::mt19937 random(6);
    for (const std::int64_t width : {1, 16, 41, 161, 602}) {
        for (const Blocking& blocking : blockings) {
            const GuardedRoom room(blocking, 2, width, false);
            const Owned b = Owned(50, width, 3).fill(random, 3);
            Owned c(23, width);
            cpu_table().spmm(evenly_cut(random, 2).view(), b.view(), c.view(), false, room.view());
            EXPECT_TRUE(room.used()) << width;
        }
    }
}

// Operands that bfloat16 has no room for: numbers of up to 12 significant bits, of which the reference keeps 8.
TEST_P(Spmm, Bf16PanelsEqualReference) {
    std::mt19937 random(8);
    for (const std::int64_t panels : {1, 2, 3, 7}) {
        const OwnedCsr valued = evenly_cut(random, panels);
        for (const OwnedCsr& a :
             {valued, factored(valued, random, true, true), factored(valued, random, false, false)}) {
            for (const std::int64_t width : {1, 2, 3, 7, 15, 16, 31, 32, 33, 41, 64, 100, 128, 161, 256, 320, 602}) {
                if (!takes_next()) continue;
                const GuardedRoom room(blockings[random() % 2], panels, width, true);
                const Owned b = Owned(50, width, 3).fill(random, 4000);
                for (const bool accumulate : {false, true}) {
                    Owned got = Owned(23, width).fill(random, 9);
                    Owned want = got;
                    Owned unrounded = got;
                    run(&Table::spmm, a.view(), b.view(), got.view(), accumulate, room.view());
                    reference_table().spmm(a.view(), b.view(), want.view(), accumulate, {{}, true});
                    reference_table().spmm(a.view(), b.view(), unrounded.view(), accumulate, {});
                    ASSERT_EQ(difference(got, want), "") << panels << " panels, width " << width;
                    ASSERT_NE(difference(got, unrounded), "") << "nothing was rounded";
                    ASSERT_TRUE(room.intact_behind());
                }
            }
        }
    }
}

// To nearest, ties to even, up to infinity; NaNs stay NaNs, whatever their bits.
TEST(SpmmVectors, EveryInstructionSetRoundsToBf16) {
    using Limits = std::numeric_limits<float>;
    const float tie = 1 + 1.0F / 256;      // between 1 and 1 + 1/128
    const float odd_tie = 1 + 3.0F / 256;  // between 1 + 1/128 and 1 + 2/128
    const std::vector<std::pair<float, std::uint16_t>> pairs = {{0.0F, 0},
                                                                {-0.0F, 0x8000},
                                                                {1.0F, 0x3f80},
                                                                {-2.5F, 0xc020},
                                                                {tie, 0x3f80},
                                                                {odd_tie, 0x3f82},
                                                                {std::nextafter(tie, 2.0F), 0x3f81},
                                                                {std::nextafter(tie, 0.0F), 0x3f80},
                                                                {Limits::denorm_min(), 0},
                                                                {Limits::max(), 0x7f80},
                                                                {-Limits::infinity(), 0xff80},
                                                                {Limits::quiet_NaN(), 0x7fc0},
                                                                {std::bit_cast<float>(0x7f800001U), 0x7fc0},
                                                                {std::bit_cast<float>(0x7fffffffU), 0x7fc0},
                                                                {std::bit_cast<float>(0xffffffffU), 0x7fc0}};
    std::vector<float> from;
    for (int i = 0; i < 5; ++i) {  // more than a vector, and a tail
        for (const auto& pair : pairs) from.push_back(pair.first);
    }
    for (const auto* kernels : cpu::supported_kernels()) {
        std::vector<Bf16> to(from.size());
        kernels->to_bf16(from.data(), to.data(), static_cast<std::int64_t>(from.size()));
        for (std::size_t i = 0; i < to.size(); ++i) {
            EXPECT_EQ(to[i].bits, pairs[i % pairs.size()].second) << kernels->name << " " << from[i];
        }
    }
}

// Without room, panels may be cut anywhere: none has the columns that an even cut would give it.
TEST_P(Spmm, UnevenPanelsWithoutRoom) {
    std::mt19937 random(7);
    const OwnedCsr whole = random_csr(random, 9, 2);
    const OwnedCsr a = in_panels(whole, {0, 0, 0, 1});
    const Owned b = Owned(2, 41).fill(random, 3);
    Owned got(9, 41);
    Owned want(9, 41);
    run(&Table::spmm, a.view(), b.view(), got.view(), false, PanelRoom{});
    reference_table().spmm(a.view(), b.view(), want.view(), false, {});
    EXPECT_EQ(difference(got, want), "");
}

TEST(SpmmVectors, EveryInstructionSetEqualsReference) {
    std::mt19937 random(2);
    for (const Case& form : forms(random, 19)) {
        const Csr a = form.matrix.view();
        for (const auto* kernels : cpu::supported_kernels()) {
            for (const std::int64_t width : widths()) {
                if (width == 0) continue;  // the callers' business
                for (const bool accumulate : {false, true}) {
                    const Owned b = Owned(50, width, 1).fill(random, 3);
                    Owned got = Owned(19, width, 2).fill(random, 9);
                    Owned want = got;
                    for (std::int64_t p = 0; p < a.panels; ++p) {
                        const auto store = accumulate || p > 0 ? cpu::Store::add : cpu::Store::write;
                        kernels->spmm_rows(a.panel(p), b.view(), got.view(), store, 0, 7);
                        kernels->spmm_rows(a.panel(p), b.view(), got.view(), store, 7, 19);
                    }
                    reference_table().spmm(a, b.view(), want.view(), accumulate, {});
                    ASSERT_EQ(difference(got, want), "") << kernels->name << ", width " << width << ", " << form.name;
                }
            }
        }
    }
}

// Large results are written past the caches, in whole aligned vectors; rows that are not made of those are written as
// usual, and so must not be cut short.
TEST(SpmmVectors, StreamedRowsEqualReference) {
    constexpr std::int64_t line = 16;
    constexpr std::int64_t rows = 19;
    std::mt19937 random(5);
    const OwnedCsr a = random_csr(random, rows, 50);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t width : {8, 16, 24, 41, 48, 64, 128, 160, 256}) {
            for (const std::int64_t stride : {width, (width + line - 1) / line * line, width + 3}) {
                const Owned b = Owned(50, width).fill(random, 3);
                std::vector<float> memory(static_cast<std::size_t>(rows * stride + line), guard);
                void* aligned = memory.data();
                std::size_t space = memory.size() * sizeof(float);
                ASSERT_NE(std::align(line * sizeof(float), static_cast<std::size_t>(rows * stride) * sizeof(float),
                                     aligned, space),
                          nullptr);
                const Matrix c{static_cast<float*>(aligned), rows, width, stride};
                kernels->spmm_rows(a.view(), b.view(), c, cpu::Store::nontemporal, 0, rows);
                Owned want(rows, width);
                reference_table().spmm(a.view(), b.view(), want.view(), false, {});
                for (std::int64_t i = 0; i < rows; ++i) {
                    for (std::int64_t j = 0; j < stride; ++j) {
                        ASSERT_EQ(c.row(i)[j], j < width ? want.at(i, j) : guard)
                            << kernels->name << ", width " << width << ", stride " << stride << ": " << i << ", " << j;
                    }
                }
            }
        }
    }
}

TEST_P(Spmm, EmptyMatrices) {
    std::mt19937 random(3);
    const OwnedCsr no_columns = random_csr(random, 5, 0);
    const Owned nothing(0, 4);
    Owned c = Owned(5, 4).fill(random, 3);
    const Owned before = c;
    run(&Table::spmm, no_columns.view(), nothing.view(), c.view(), true, PanelRoom{});
    EXPECT_EQ(difference(c, before), "");
    run(&Table::spmm, no_columns.view(), nothing.view(), c.view(), false, PanelRoom{});
    Owned zero(5, 4);
    for (std::int64_t i = 0; i < 5; ++i) std::fill_n(zero.view().row(i), 4, 0.0F);
    EXPECT_EQ(difference(c, zero), "");
    run(&Table::spmm, Csr{}, nothing.view(), Matrix{}, false, PanelRoom{});
}

// The oracle itself: panels and scales against the dense matrix that they mean.
TEST(SpmmReference, HonoursPanelsAndScales) {
    // Row 0: column 2; row 1: columns 0, 3 (in panel 1); row 2: empty.
    const std::vector<std::int64_t> row_start = {0, 0, 1, 1, 1, 2, 3, 3};
    const std::vector<std::int32_t> column = {0, 2, 3};
    const std::vector<float> row_scale = {2, 3, 5};
    const std::vector<float> column_scale = {7, 11, 13, 17};
    Csr a{3, 4, row_start.data(), column.data(), nullptr, row_scale.data(), column_scale.data(), 2, 4};
    Owned b(4, 1);
    for (std::int64_t i = 0; i < 4; ++i) b.at(i, 0) = static_cast<float>(i + 1);
    Owned c = Owned(3, 1);
    reference_table().spmm(a, b.view(), c.view(), false, {});
    EXPECT_EQ(c.at(0, 0), 2 * 13 * 3);
    EXPECT_EQ(c.at(1, 0), 3 * 7 * 1 + 3 * 17 * 4);
    EXPECT_EQ(c.at(2, 0), 0);
    a.row_scale = nullptr;
    reference_table().spmm(a, b.view(), c.view(), true, {});
    EXPECT_EQ(c.at(0, 0), 2 * 13 * 3 + 13 * 3);
    a.column_scale = nullptr;
    reference_table().spmm(a, b.view(), c.view(), false, {});
    EXPECT_EQ(c.at(1, 0), 1 + 4);
    EXPECT_EQ(a.nonzeros(), 3);
}

}  // namespace
}  // namespace gnnplan::kernels::testing
