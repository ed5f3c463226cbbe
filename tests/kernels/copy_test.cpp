#include "tests/kernels/on_device.hpp"

#include <algorithm>
#include <numeric>

namespace gnnplan::kernels::testing {
namespace {

class Copy : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Copy, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Copy, EqualsReference) {
    std::mt19937 random(5);
    for (const std::int64_t rows : {0, 1, 30}) {
        for (const std::int64_t columns : {0, 1, 5, 129}) {
            for (const std::int64_t padding : {0, 2}) {
                const Owned in = Owned(rows, columns, padding).fill(random, 99);
                Owned out(rows, columns, 2 - padding);
                run(&Table::copy, in.view(), out.view());
                ASSERT_EQ(difference(out, in), "") << rows << " x " << columns;
            }
        }
    }
}

class Add : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Add, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Add, EqualsReference) {
    std::mt19937 random(7);
    for (const std::int64_t rows : {0, 1, 30, 2000}) {
        for (const std::int64_t columns : {0, 1, 5, 129}) {
            for (const std::int64_t padding : {0, 1}) {
                const Owned in = Owned(rows, columns, 2 * padding).fill(random, 99);
                const Owned before = Owned(rows, columns, padding).fill(random, 99);
                Owned got = before, want = before;
                run(&Table::add, in.view(), got.view());
                reference_table().add(in.view(), want.view());
                ASSERT_EQ(difference(got, want), "") << rows << " x " << columns;

                Owned sum(rows, columns, padding);
                run(&Table::sum, in.view(), before.view(), sum.view());
                ASSERT_EQ(difference(sum, want), "") << rows << " x " << columns;
            }
        }
    }
}

class GatherRows : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, GatherRows, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(GatherRows, EqualsReference) {
    std::mt19937 random(8);
    for (const std::int64_t rows : {0, 1, 30}) {
        std::vector<std::int32_t> index;
        for (std::int64_t i = 0; i < rows; ++i) index.push_back(static_cast<std::int32_t>(random() % 50));
        for (const std::int64_t columns : {0, 1, 4, 41, 128}) {
            for (const std::int64_t padding : {0, 4}) {
                const Owned in = Owned(50, columns, padding).fill(random, 99);
                Owned got(rows, columns, padding), want(rows, columns, padding);
                run(&Table::gather_rows, in.view(), std::span(std::as_const(index)), got.view());
                reference_table().gather_rows(in.view(), index.data(), want.view());
                ASSERT_EQ(difference(got, want), "") << rows << " x " << columns;
            }
        }
    }
}

class AddRows : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, AddRows, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// To rows that are not named nothing is added.
TEST_P(AddRows, EqualsReference) {
    std::mt19937 random(9);
    constexpr std::int64_t first = 7, into = 50;
    for (const std::int64_t rows : {0, 1, 30}) {
        std::vector<std::int32_t> index(into);
        std::iota(index.begin(), index.end(), static_cast<std::int32_t>(first));
        std::shuffle(index.begin(), index.end(), random);
        index.resize(static_cast<std::size_t>(rows));
        std::sort(index.begin(), index.end());
        for (const std::int64_t columns : {0, 1, 4, 41, 128}) {
            for (const std::int64_t padding : {0, 4}) {
                const Owned in = Owned(rows, columns, padding).fill(random, 99);
                Owned got = Owned(into, columns, padding).fill(random, 99);
                Owned want = got;
                run(&Table::add_rows, in.view(), std::span(std::as_const(index)), first, got.view());
                reference_table().add_rows(in.view(), index.data(), first, want.view());
                ASSERT_EQ(difference(got, want), "") << rows << " x " << columns;
            }
        }
    }
}

class ScaleRows : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ScaleRows, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Rows that are not named stay; without an index the first ones are named, and without factors rows are cleared even
// where they hold no number.
TEST_P(ScaleRows, EqualsReference) {
    std::mt19937 random(11);
    constexpr std::int64_t all = 50;
    for (const std::int64_t count : {0, 1, 30}) {
        std::vector<std::int32_t> index(all);
        std::iota(index.begin(), index.end(), 0);
        std::shuffle(index.begin(), index.end(), random);
        index.resize(static_cast<std::size_t>(count));
        std::vector<float> factor;
        for (std::int64_t i = 0; i < count; ++i) factor.push_back(static_cast<float>(random() % 7) - 3);
        for (const std::int64_t columns : {0, 1, 4, 41, 128}) {
            for (const int missing : {0, 1, 2}) {
                Owned got = Owned(all, columns, missing).fill(random, 99);
                if (missing == 2 && columns > 0 && count > 0)
                    got.view().row(index.front())[0] = std::numeric_limits<float>::quiet_NaN();
                Owned want = got;
                const std::span<const std::int32_t> named = missing == 1 ? std::span<const std::int32_t>() : index;
                const std::span<const float> by = missing == 2 ? std::span<const float>() : factor;
                run(&Table::scale_rows, named, by, count, got.view());
                reference_table().scale_rows(named.data(), by.data(), count, want.view());
                ASSERT_EQ(difference(got, want), "") << count << " x " << columns << ", " << missing;
            }
        }
    }
}

class Zero : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Zero, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Zero, ClearsAllBytes) {
    for (const std::size_t bytes : {0, 1, 7, 4096}) {
        std::vector<std::byte> memory(bytes, std::byte{1});
        run(&Table::zero, Bytes{memory});
        EXPECT_EQ(memory, std::vector<std::byte>(bytes));
    }
}

class ColumnSum : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ColumnSum, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(ColumnSum, EqualsReference) {
    std::mt19937 random(6);
    for (const std::int64_t rows : {0, 1, 3, 64, 200}) {
        for (const std::int64_t columns : {0, 1, 5, 63, 64, 65, 602}) {
            const Owned g = Owned(rows, columns, 3).fill(random, 9);
            Owned got(1, columns);
            Owned want(1, columns);
            run(&Table::column_sum, g.view(), got.span());
            reference_table().column_sum(g.view(), want.view().data);
            ASSERT_EQ(difference(got, want), "") << rows << " x " << columns;
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
