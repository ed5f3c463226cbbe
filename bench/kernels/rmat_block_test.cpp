#include "bench/kernels/rmat_block.hpp"

#include "kernels/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace gnnplan::bench {
namespace {

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, float>;

Entries entries_of(const kernels::Csr& a) {
    Entries entries;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) entries[{i, a.column[k]}] = a.value[k];
    }
    return entries;
}

TEST(RmatBlock, IsSymmetricWithoutDuplicatesAndNormalised) {
    const RmatBlock block = rmat_block(300, 2000);
    const kernels::Csr a = block.view();
    const Entries entries = entries_of(a);
    ASSERT_EQ(a.rows, 300);
    EXPECT_EQ(static_cast<std::int64_t>(entries.size()), a.nonzeros()) << "every entry once";
    EXPECT_GT(a.nonzeros(), 2500);
    EXPECT_LE(a.nonzeros(), 4300);
    const auto degree = [&](std::int64_t i) { return static_cast<double>(a.row_start[i + 1] - a.row_start[i]); };
    for (const auto& [place, value] : entries) {
        const auto [i, j] = place;
        ASSERT_TRUE(entries.contains({j, i}));
        EXPECT_FLOAT_EQ(value, static_cast<float>(1 / std::sqrt(degree(i) * degree(j))));
    }
    for (std::int64_t i = 0; i < a.rows; ++i) {
        EXPECT_TRUE(entries.contains({i, i}));
        EXPECT_TRUE(std::is_sorted(a.column + a.row_start[i], a.column + a.row_start[i + 1]));
    }
}

TEST(RmatBlock, IsTheSameForEveryNumberOfThreads) {
    kernels::set_threads(1);
    const RmatBlock one = rmat_block(1000, 20000);
    kernels::set_threads(3);
    const RmatBlock three = rmat_block(1000, 20000);
    EXPECT_EQ(one.row_start, three.row_start);
    EXPECT_EQ(one.column, three.column);
}

// The first quadrant has 0.57 of the edges of each level, so a few vertices have most.
TEST(RmatBlock, HasHubs) {
    const RmatBlock block = rmat_block(4096, 40000);
    std::vector<std::int64_t> degrees;
    for (std::size_t i = 1; i < block.row_start.size(); ++i)
        degrees.push_back(block.row_start[i] - block.row_start[i - 1]);
    std::sort(degrees.rbegin(), degrees.rend());
    EXPECT_GT(degrees.front(), 20 * degrees[degrees.size() / 2]);
    EXPECT_EQ(degrees.back(), 1) << "some have only their self loop";
}

}  // namespace
}  // namespace gnnplan::bench
