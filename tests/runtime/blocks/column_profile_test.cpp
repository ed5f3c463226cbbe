// Compares profiles of columns with the counts from which they were made.
#include "runtime/blocks/column_profile.hpp"

#include <gnnplan/base/at.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace gnnplan::data {
namespace {

std::vector<std::int32_t> counts_of(const std::vector<std::int32_t>& columns, std::int64_t all) {
    std::vector<std::int32_t> counts(at(all), 0);
    for (const std::int32_t column : columns) ++counts[at(column)];
    return counts;
}

ColumnProfile profile_of(const std::vector<std::int32_t>& columns, ColumnTally& tally, Range ones = {},
                         std::int64_t few_bytes = 0) {
    tally.clear();
    for (const std::int32_t column : columns) tally.add(column);
    return {tally, ones, few_bytes};
}

// Checks ranges that begin at each column, and ranges that end at it.
void expect_exact(const ColumnProfile& profile, const std::vector<std::int32_t>& counts) {
    const auto all = static_cast<std::int64_t>(counts.size());
    std::int64_t nonzeros = 0, distinct = 0;
    for (std::int64_t c = 0; c <= all; ++c) {
        ASSERT_EQ(profile.nonzeros({0, c}), nonzeros) << c;
        ASSERT_EQ(profile.distinct({0, c}), distinct) << c;
        ASSERT_EQ(profile.nonzeros({c, all}), profile.nonzeros() - nonzeros) << c;
        if (c == all) break;
        nonzeros += counts[at(c)];
        distinct += counts[at(c)] > 0 ? 1 : 0;
    }
    EXPECT_EQ(profile.nonzeros(), nonzeros);
}

// Draws `count` columns; the first ones are drawn more often than the last where `skew` is above 1.
std::vector<std::int32_t> random_columns(std::int64_t all, std::int64_t count, double skew, std::mt19937& random) {
    std::uniform_real_distribution<double> share(0, 1);
    std::vector<std::int32_t> columns;
    for (std::int64_t i = 0; i < count; ++i) {
        const double place = std::pow(share(random), skew) * static_cast<double>(all);
        columns.push_back(static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(place), all - 1)));
    }
    return columns;
}

TEST(ColumnProfile, CountsWhatItWasMadeOf) {
    std::mt19937 random(7);
    for (const std::int64_t all : {1, 63, 384, 385, 3000}) {
        ColumnTally tally(all);  // is used again after few columns and after many
        for (const double share : {0.0, 0.002, 0.03, 0.5, 1.0, 4.0, 40.0}) {
            for (const double skew : {1.0, 9.0}) {
                const auto count = static_cast<std::int64_t>(share * static_cast<double>(all));
                const std::vector<std::int32_t> columns = random_columns(all, count, skew, random);
                std::vector<std::int32_t> counts = counts_of(columns, all);
                expect_exact(profile_of(columns, tally), counts);
                const Range ones{all / 3, all - all / 4};
                for (std::int64_t c = ones.begin; c < ones.end; ++c) ++counts[at(c)];
                expect_exact(profile_of(columns, tally, ones), counts);
                expect_exact(profile_of(columns, tally, ones, 1 << 20), counts);  // listed
            }
        }
    }
}

// A profile takes a bit for each column, where a list of columns with their counts takes twelve bytes for each.
TEST(ColumnProfile, OfSparseGraphsIsSmall) {
    constexpr std::int64_t vertices = 100000;
    std::vector<std::int32_t> columns;
    for (std::int32_t v = 0; v < vertices; ++v) columns.push_back(v);
    ColumnTally tally(vertices);
    EXPECT_LT(profile_of(columns, tally).bytes(), vertices / 5) << "self loops alone";
    std::mt19937 random(1);
    for (const std::int32_t column : random_columns(vertices, vertices, 1, random)) columns.push_back(column);
    EXPECT_LT(profile_of(columns, tally).bytes(), vertices) << "an edge for each vertex, besides";
    EXPECT_LT(profile_of({5, 70000, 99999}, tally).bytes(), 500) << "few columns, far from each other";
}

}  // namespace
}  // namespace gnnplan::data
