// Messages in bfloat16, bit by bit.
#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace gnnplan::kernels::testing {
namespace {

// As Owned, in bfloat16.
class OwnedBf16 {
public:
    static constexpr std::uint16_t guard_bits = 0xdead;

    OwnedBf16(std::int64_t rows, std::int64_t columns, std::int64_t padding)
        : rows_(rows),
          columns_(columns),
          stride_(columns + padding),
          data_(static_cast<std::size_t>(rows * stride_), Bf16{guard_bits}) {}

    Dense<Bf16> view() { return {data_.data(), rows_, columns_, stride_}; }
    Dense<const Bf16> view() const { return {data_.data(), rows_, columns_, stride_}; }

    bool operator==(const OwnedBf16& other) const {
        return std::ranges::equal(data_, other.data_, {}, &Bf16::bits, &Bf16::bits);
    }

private:
    std::int64_t rows_, columns_, stride_;
    std::vector<Bf16> data_;
};

// Numbers and the bits of what they become.
struct Rounding {
    float from;
    std::uint16_t to;
};
using Limits = std::numeric_limits<float>;
constexpr float tie = 1 + 1.0F / 256;      // between 1 and 1 + 1/128
constexpr float odd_tie = 1 + 3.0F / 256;  // between 1 + 1/128 and 1 + 2/128
float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }
const std::vector<Rounding>& roundings() {
    static const std::vector<Rounding> all = {{0.0F, 0},
                                              {-0.0F, 0x8000},
                                              {1.0F, 0x3f80},
                                              {-2.5F, 0xc020},
                                              {tie, 0x3f80},
                                              {-tie, 0xbf80},
                                              {odd_tie, 0x3f82},
                                              {std::nextafter(tie, 2.0F), 0x3f81},
                                              {std::nextafter(tie, 0.0F), 0x3f80},
                                              {std::nextafter(odd_tie, 0.0F), 0x3f81},
                                              {Limits::denorm_min(), 0},
                                              {number(0x00008000), 0},       // a tie of denormals
                                              {number(0x00008001), 0x0001},  // above it
                                              {number(0x80018000), 0x8002},  // an odd one
                                              {number(0x007fffff), 0x0080},  // becomes the least normal number
                                              {Limits::min(), 0x0080},
                                              {3.3e38F, 0x7f78},
                                              {number(0x7f7f7fff), 0x7f7f},  // the last that stays finite
                                              {3.4e38F, 0x7f80},
                                              {-Limits::max(), 0xff80},
                                              {Limits::infinity(), 0x7f80},
                                              {-Limits::infinity(), 0xff80},
                                              {Limits::quiet_NaN(), 0x7fc0},
                                              {number(0x7f800001), 0x7fc0},  // signalling
                                              {number(0x7fffffff), 0x7fc0},
                                              {number(0xff800001), 0x7fc0},
                                              {number(0xffffffff), 0x7fc0}};
    return all;
}

// Any bits, every third one of which is of roundings().
Owned any_numbers(std::mt19937& random, std::int64_t rows, std::int64_t columns, std::int64_t padding) {
    Owned all(rows, columns, padding);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            const auto bits = static_cast<std::uint32_t>(random());
            all.at(i, j) = bits % 3 == 0 ? roundings()[random() % roundings().size()].from : number(bits);
        }
    }
    return all;
}
OwnedBf16 any_halves(std::mt19937& random, std::int64_t rows, std::int64_t columns, std::int64_t padding) {
    OwnedBf16 all(rows, columns, padding);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) all.view().row(i)[j].bits = static_cast<std::uint16_t>(random());
    }
    return all;
}

bool same_bits(const Owned& got, const Owned& want) {
    return std::ranges::equal(std::as_bytes(got.span()), std::as_bytes(want.span()));
}
// A sum that is no number may be any such.
bool same_sums(Owned got, Owned want) {
    for (Owned* sums : {&got, &want}) {
        for (float& x : sums->span()) x = std::isnan(x) ? Limits::quiet_NaN() : x;
    }
    return same_bits(got, want);
}

struct Shape {
    std::int64_t rows, columns, in_padding, out_padding;
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
    return out << s.rows << " x " << s.columns << ", gaps of " << s.in_padding << " and " << s.out_padding;
}
std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const std::int64_t rows : {0, 1, 2, 30}) {
        for (const std::int64_t columns : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 41, 64, 100, 129}) {
            for (const std::int64_t in : {0, 3, 4}) {
                for (const std::int64_t out : {0, 1, 4}) all.push_back({rows, columns, in, out});
            }
        }
    }
    // Enough for several threads.
    for (const std::int64_t padding : {0, 5}) all.push_back({2000, 41, padding, padding});
    return all;
}

class ToBf16 : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ToBf16, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);
class FromBf16 : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, FromBf16, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(ToBf16, NarrowRounds) {
    const auto count = std::ssize(roundings());
    for (const std::int64_t before : {0, 1, 20}) {  // in vectors, and in what is left of a row
        Owned in(1, before + count);
        std::ranges::fill(in.span(), 0.0F);
        OwnedBf16 out(1, before + count, 0);
        for (std::int64_t j = 0; j < count; ++j) in.at(0, before + j) = roundings()[static_cast<std::size_t>(j)].from;
        run(&Table::narrow, std::as_const(in).view(), out.view());
        for (std::int64_t j = 0; j < count; ++j) {
            const Rounding& want = roundings()[static_cast<std::size_t>(j)];
            EXPECT_EQ(out.view().row(0)[before + j].bits, want.to) << want.from;
        }
    }
}

TEST_P(ToBf16, NarrowEqualsReference) {
    std::mt19937 random(21);
    for (const Shape& s : shapes()) {
        if (!takes_next()) continue;
        const Owned in = any_numbers(random, s.rows, s.columns, s.in_padding);
        OwnedBf16 got(s.rows, s.columns, s.out_padding), want = got;
        run(&Table::narrow, in.view(), got.view());
        reference_table().narrow(in.view(), want.view());
        ASSERT_EQ(got, want) << s;
    }
}

TEST_P(ToBf16, GatheredRowsEqualReference) {
    std::mt19937 random(22);
    for (const Shape& s : shapes()) {
        if (!takes_next()) continue;
        std::vector<std::int32_t> index;
        for (std::int64_t i = 0; i < s.rows; ++i) index.push_back(static_cast<std::int32_t>(random() % 50));
        const Owned in = any_numbers(random, 50, s.columns, s.in_padding);
        OwnedBf16 got(s.rows, s.columns, s.out_padding), want = got;
        run(&Table::gather_rows_narrow, in.view(), std::span(std::as_const(index)), got.view());
        reference_table().gather_rows_narrow(in.view(), index.data(), want.view());
        ASSERT_EQ(got, want) << s;

        OwnedBf16 rounded(50, s.columns, s.in_padding), passed(s.rows, s.columns, s.out_padding);
        reference_table().narrow(in.view(), rounded.view());
        run(&Table::gather_rows_bf16, std::as_const(rounded).view(), std::span(std::as_const(index)), passed.view());
        ASSERT_EQ(passed, want) << s;
    }
}

// All numbers that there are; what is narrowed again is what it was, unless it is no number.
TEST_P(FromBf16, WidenKeepsEveryNumber) {
    constexpr std::int64_t all = 1 << 16;
    OwnedBf16 in(1, all, 0), again(1, all, 0);
    for (std::int64_t j = 0; j < all; ++j) in.view().row(0)[j].bits = static_cast<std::uint16_t>(j);
    Owned out(1, all);
    run(&Table::widen, std::as_const(in).view(), out.view());
    reference_table().narrow(std::as_const(out).view(), again.view());
    for (std::int64_t j = 0; j < all; ++j) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(out.at(0, j)), static_cast<std::uint32_t>(j) << 16U);
        ASSERT_EQ(again.view().row(0)[j].bits, std::isnan(out.at(0, j)) ? 0x7fc0 : j);
    }
}

TEST_P(FromBf16, WidenEqualsReference) {
    std::mt19937 random(23);
    for (const Shape& s : shapes()) {
        if (!takes_next()) continue;
        const OwnedBf16 in = any_halves(random, s.rows, s.columns, s.in_padding);
        Owned got(s.rows, s.columns, s.out_padding), want = got;
        run(&Table::widen, in.view(), got.view());
        reference_table().widen(in.view(), want.view());
        ASSERT_TRUE(same_bits(got, want)) << s;
    }
}

TEST_P(FromBf16, SumsEqualReference) {
    std::mt19937 random(24);
    for (const Shape& s : shapes()) {
        if (!takes_next()) continue;
        const OwnedBf16 in = any_halves(random, s.rows, s.columns, s.in_padding);
        Owned got = any_numbers(random, s.rows, s.columns, s.out_padding), want = got;
        run(&Table::add_widened, in.view(), got.view());
        reference_table().add_widened(in.view(), want.view());
        ASSERT_TRUE(same_sums(got, want)) << s;
    }
}

// To rows that are not named nothing is added.
TEST_P(FromBf16, SumsOfRowsEqualReference) {
    std::mt19937 random(25);
    constexpr std::int64_t first = 7;
    for (const Shape& s : shapes()) {
        if (!takes_next()) continue;
        const std::int64_t into = s.rows + 20;
        std::vector<std::int32_t> index(static_cast<std::size_t>(into));
        std::iota(index.begin(), index.end(), static_cast<std::int32_t>(first));
        std::shuffle(index.begin(), index.end(), random);
        index.resize(static_cast<std::size_t>(s.rows));
        const OwnedBf16 in = any_halves(random, s.rows, s.columns, s.in_padding);
        Owned got = any_numbers(random, into, s.columns, s.out_padding), want = got;
        run(&Table::add_rows_widened, in.view(), std::span(std::as_const(index)), first, got.view());
        reference_table().add_rows_widened(in.view(), index.data(), first, want.view());
        ASSERT_TRUE(same_sums(got, want)) << s;
    }
}

// A contribution below half a unit in the last place of bfloat16 counts: the sum is of floats.
TEST_P(FromBf16, SumsKeepTheBitsOfFloats) {
    const Owned terms = [] {
        Owned all(1, 5);
        std::ranges::fill(all.span(), 0x1p-12F);
        return all;
    }();
    OwnedBf16 in(1, 5, 0);
    Owned sums(1, 5);
    std::ranges::fill(sums.span(), 1.0F);
    reference_table().narrow(terms.view(), in.view());
    run(&Table::add_widened, std::as_const(in).view(), sums.view());
    for (const float sum : sums.span()) EXPECT_EQ(sum, 1 + 0x1p-12F);
}

// Rows of every length up to two chunks and more, which end within vectors.
TEST(Bf16Vectors, EveryInstructionSetEqualsReference) {
    std::mt19937 random(27);
    for (std::int64_t n = 0; n <= 100; ++n) {
        const Owned in = any_numbers(random, 1, n, 1);
        const OwnedBf16 halves = any_halves(random, 1, n, 1);
        OwnedBf16 narrow(1, n, 1);
        Owned wide(1, n, 1), sums = any_numbers(random, 1, n, 1);
        const Owned before = sums;
        reference_table().narrow(in.view(), narrow.view());
        reference_table().widen(halves.view(), wide.view());
        reference_table().add_widened(halves.view(), sums.view());
        for (const auto* kernels : cpu::supported_kernels()) {
            OwnedBf16 to(1, n, 1);
            Owned from(1, n, 1), added = before;
            kernels->to_bf16(in.view().data, to.view().data, n);
            kernels->from_bf16(halves.view().data, from.view().data, n);
            kernels->add_bf16(halves.view().data, added.view().data, n);
            EXPECT_EQ(to, narrow) << kernels->name << ", " << n;
            EXPECT_TRUE(same_bits(from, wide)) << kernels->name << ", " << n;
            EXPECT_TRUE(same_sums(added, sums)) << kernels->name << ", " << n;
        }
    }
}

// Chunks are shared out by whole rows, so that every number of threads does the same.
TEST(Bf16Threads, SameBitsForEveryCount) {
    std::mt19937 random(26);
    constexpr std::int64_t rows = 5000, columns = 37;
    const Owned in = any_numbers(random, rows, columns, 3);
    std::vector<std::int32_t> index(rows);
    std::iota(index.begin(), index.end(), 0);
    std::shuffle(index.begin(), index.end(), random);
    OwnedBf16 narrow(rows, columns, 1), gathered = narrow;
    Owned wide(rows, columns), sums = any_numbers(random, rows, columns, 0), by_row = sums;
    const Owned before = sums;
    const auto all = [&](const Table& table) {
        sums = by_row = before;
        table.narrow(in.view(), narrow.view());
        table.gather_rows_narrow(in.view(), index.data(), gathered.view());
        table.widen(std::as_const(narrow).view(), wide.view());
        table.add_widened(std::as_const(narrow).view(), sums.view());
        table.add_rows_widened(std::as_const(narrow).view(), index.data(), 0, by_row.view());
        return std::tuple{narrow, gathered, wide, sums, by_row};
    };
    const auto want = all(reference_table());
    for (const int threads : {1, 2, 3, 5}) {
        set_threads(threads);
        const auto got = all(cpu_table());
        EXPECT_EQ(std::get<0>(got), std::get<0>(want)) << threads;
        EXPECT_EQ(std::get<1>(got), std::get<1>(want)) << threads;
        EXPECT_TRUE(same_bits(std::get<2>(got), std::get<2>(want))) << threads;
        EXPECT_TRUE(same_sums(std::get<3>(got), std::get<3>(want))) << threads;
        EXPECT_TRUE(same_sums(std::get<4>(got), std::get<4>(want))) << threads;
    }
    set_threads(1);
}

}  // namespace
}  // namespace gnnplan::kernels::testing
