#include "tools/advise/sweep/sweep_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gnnplan::tools {
namespace {

constexpr std::array<Unit, 4> time_units{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
constexpr std::array<Unit, 5> memory_units{
    {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}}};
constexpr std::array<Unit, 4> rate_units{{{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}}};

// The largest unit that does not exceed the largest value.
template <std::size_t n>
Unit unit_for(const std::array<Unit, n>& units, double largest) {
    for (const Unit& unit : units) {
        if (largest >= unit.size) return unit;
    }
    return units.back();
}

}  // namespace

Unit time_unit(double largest_seconds) { return unit_for(time_units, largest_seconds); }
Unit memory_unit(double largest_bytes) { return unit_for(memory_units, largest_bytes); }

VariationAxis axis_of(const Variation& variation) {
    VariationAxis axis{variation.name, true, {}, {}};
    double largest = 0;
    for (const Setting& setting : variation.settings) {
        axis.numbers = axis.numbers && setting.number.has_value();
        largest = std::max(largest, setting.number.value_or(0));
    }
    double scale = 1;
    if (variation.name == "hidden") axis.title = "width of hidden layers";
    if (variation.name == "bandwidth" || variation.name == "memory") {
        const bool rate = variation.name == "bandwidth";
        const Unit unit = rate ? unit_for(rate_units, largest) : memory_unit(largest);
        axis.title = fmt::format("{} [{}]", rate ? "link bandwidth" : "memory per rank", unit.name);
        scale = unit.size;
    }
    for (std::size_t i = 0; i < variation.settings.size(); ++i) {
        const Setting& setting = variation.settings[i];
        axis.positions.push_back(axis.numbers ? *setting.number / scale : static_cast<double>(i));
        axis.texts.push_back(scale > 1 ? fmt::format("{:.3g}", axis.positions.back()) : setting.text);
    }
    return axis;
}

}  // namespace gnnplan::tools
