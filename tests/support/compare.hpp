// Comparisons that say where and by how much values differ. compare_test.cpp shows that each of them can fail.
#pragma once

#include "tests/support/serial_network.hpp"

#include <gtest/gtest.h>

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::testing {

// |actual - expected| <= relative * |expected| + absolute.
::testing::AssertionResult close(double actual, double expected, double relative, double absolute = 0);

// Largest |actual - expected| <= relative * largest |expected| + absolute; NaN is never close.
::testing::AssertionResult close(std::span<const float> actual, std::span<const double> expected, double relative,
                                 double absolute = 0);
::testing::AssertionResult close(std::span<const double> actual, std::span<const double> expected, double relative,
                                 double absolute = 0);

// Each |actual - expected| <= its own tolerance.
::testing::AssertionResult within(std::span<const float> actual, std::span<const double> expected,
                                  std::span<const double> tolerance);

// Predicted bytes equal counted bytes in every record, on every rank, and their sums are the totals. Exactly.
::testing::AssertionResult bytes_as_predicted(const std::vector<StepRecord>& records);

}  // namespace gnnplan::testing
