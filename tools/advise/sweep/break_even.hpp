// Where the answer changes: which of two curves is slower from where on, and at which values of a quantity the choice
// becomes another one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// Seconds at each value of an axis, in increasing order of the values; none where nothing fits.
struct Curve {
    std::string name;
    std::vector<std::optional<double>> seconds;
};

// How two curves compare at the last value where both have one, and since when it has been so.
struct Crossing {
    std::string slower, faster;  // where `equal`: the first and the second curve
    bool equal = false;          // predicted equally fast
    bool throughout = false;     // wherever both have a value
    std::size_t from = 0;        // the first value from which on it stays so
    std::size_t last = 0;
    double ratio = 1;  // slower over faster at `last`
};

// Times closer than `tolerance` (a fraction) are equal. None when the curves have no value in common.
std::optional<Crossing> crossing(const Curve& a, const Curve& b, double tolerance);

// Between two neighbouring values the choice changes; `at` is their geometric mean.
struct ChoiceChange {
    double at = 0;
    std::string below, above;
};

// Every change of `choose` that shows at `samples` (positive, increasing, at least one) or on the way of bisecting
// between two that differ, each to within a factor of 1 + `precision`. Increasing.
std::vector<ChoiceChange> choice_changes(const std::vector<double>& samples,
                                         const std::function<std::string(double)>& choose, double precision);

// The value on the way from the first of `samples` to the last (positive, in order, either way) at which `holds`
// becomes true, to within a factor of 1 + `precision`; none when it holds at no sample.
std::optional<double> first_holding(const std::vector<double>& samples, const std::function<bool(double)>& holds,
                                    double precision);

}  // namespace gnnplan::tools
