#include "tools/gnnplan/trust.hpp"

#include "tools/common/format.hpp"

#include <cmath>

namespace gnnplan::tools {
namespace {

bool calibrated(const Machine& machine) { return machine.measured || machine.calibration.has_value(); }

}  // namespace

std::string trust_sentence(const Machine& machine) {
    if (calibrated(machine)) return "";
    return "Not measured here: orders and schemes can be trusted; seconds may be up to three times too small, and "
           "gains "
           "from more GPUs are optimistic (docs/published.md).";
}

double trusted_digits(double value, const Machine& machine) {
    if (value <= 0 || calibrated(machine)) return value;
    const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
    return std::round(value / unit) * unit;
}

std::string format_seconds(double seconds, const Machine& machine) {
    return format_seconds(trusted_digits(seconds, machine));
}

}  // namespace gnnplan::tools
