// Sums of squares of floats, as floats.
#pragma once

#include <cmath>

namespace gnnplan::kernels {

// A sum of squares as its fourth root, the root of a row's length. Squares of numbers beyond 1.8e19 or below 1e-19 are no
// normal floats, sums of them even less; the roots of lengths are, whatever floats a row has, to one unit in the last
// place.
struct SquareSum {
    float root = 0;

    static SquareSum of(double sum) { return {static_cast<float>(std::sqrt(std::sqrt(sum)))}; }
    double length() const { return static_cast<double>(root) * static_cast<double>(root); }
    SquareSum& operator+=(SquareSum other) { return *this = of(length() * length() + other.length() * other.length()); }
};
static_assert(sizeof(SquareSum) == sizeof(float));

}  // namespace gnnplan::kernels
