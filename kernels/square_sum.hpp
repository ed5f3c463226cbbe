// Sums of squares of floats, as floats.
#pragma once

#include <cmath>

namespace gnnplan::kernels {

// A sum of squares, held as its fourth root, which is the square root of a row's length. Squares of numbers beyond
// 1.8e19 or below 1e-19 are out of the range of normal floats, and so are their sums. The square root of a length is
// always in that range, whichever floats a row has, with an error of at most one unit in the last place.
struct SquareSum {
    float root = 0;

    static SquareSum of(double sum) { return {static_cast<float>(std::sqrt(std::sqrt(sum)))}; }
    double length() const { return static_cast<double>(root) * static_cast<double>(root); }
    SquareSum& operator+=(SquareSum other) { return *this = of(length() * length() + other.length() * other.length()); }
};
static_assert(sizeof(SquareSum) == sizeof(float));

}  // namespace gnnplan::kernels
