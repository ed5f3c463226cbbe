#include "tools/gnnplan/trust.hpp"

#include "tools/common/format.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gnnplan::tools {
namespace {

bool calibrated(const Machine& machine) { return machine.measured || machine.calibration.has_value(); }

}  // namespace

std::string trust_sentence(const Machine& machine) {
    if (calibrated(machine)) return "";
    return fmt::format(
        "Not measured here: orders and schemes can be trusted; seconds are typically three times too small (at worst "
        "eight), and gains from more {} are optimistic (docs/published.md).",
        machine.accelerators ? "GPUs" : "ranks");
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
