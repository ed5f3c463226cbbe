#include "tools/text/trust.hpp"

#include "tools/text/format.hpp"

#include <cmath>

namespace gnnplan::tools {
namespace {

double two_digits(double value) {
    const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
    return std::round(value / unit) * unit;
}

}  // namespace

bool calibrated(const Machine& machine) {
    return machine.measured || (machine.calibration.has_value() && !machine.probe.has_value());
}

double trusted_digits(double value, const Machine& machine) {
    return value <= 0 || calibrated(machine) ? value : two_digits(value);
}

std::string format_seconds(double seconds, const Machine& machine) {
    return format_seconds(trusted_digits(seconds, machine));
}

std::string format_predicted(double seconds, bool measured) {
    return format_seconds(seconds <= 0 || measured ? seconds : two_digits(seconds));
}

}  // namespace gnnplan::tools
