// The common parts of tests of the largest neighbours and of their gradient. Operands are small integers, so that many
// are equal, and shares of gradients too, so that sums are exact in every order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {

inline const std::vector<std::int64_t> max_widths = {1,  2,  3,  5,  7,  8,   9,   15,  16,  17,  31,  32,  33,  63,
                                                     64, 65, 80, 96, 97, 127, 128, 129, 144, 145, 161, 256, 320, 602};
inline const std::vector<std::vector<std::int64_t>> cuts = {
    {0}, {0, 25}, {0, 1, 49}, {0, 0, 20, 20}, {0, 7, 30, 31, 50}};

// Two results that are set out alike, and compared together.
struct Maxima {
    Owned largest, ties;

    // The results of an earlier product over other columns: counts of 0 say that there was nothing yet.
    Maxima(std::mt19937& random, std::int64_t rows, std::int64_t width, std::int64_t padding)
        : largest(Owned(rows, width, padding).fill(random, 2)), ties(Owned(rows, width, padding).fill(random, 2)) {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < width; ++j) {
                ties.at(i, j) = std::max(0.0F, ties.at(i, j));
                if (ties.at(i, j) == 0) largest.at(i, j) = 0;
            }
        }
    }
};

inline ::testing::AssertionResult equal(const Maxima& got, const Maxima& want) {
    const std::string maxima = difference(got.largest, want.largest);
    const std::string ties = difference(got.ties, want.ties);
    if (maxima.empty() && ties.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "maxima " << maxima << ", ties " << ties;
}

inline void max_of(const Table& table, const OwnedCsr& a, const Owned& b, Maxima& to, bool accumulate) {
    table.spmm_max(a.view(), b.view(), to.largest.view(), to.ties.view(), accumulate, {});
}

}  // namespace gnnplan::kernels::testing
