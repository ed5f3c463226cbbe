// Helpers that the files of switches share. Each file defines rows of the table in switches.cpp.
#pragma once

#include "planner/enumerate/switches.hpp"

#include <iterator>
#include <type_traits>
#include <vector>

namespace gnnplan::enumerate {

template <class T>
std::vector<Switches> with_each(const Switches& so_far, T Switches::*member, const std::vector<T>& values) {
    std::vector<Switches> all;
    for (const T value : values) all.emplace_back(so_far).*member = value;
    return all;
}
template <class T>
std::vector<T> pinned_or(const std::optional<T>& pin, const std::vector<T>& values) {
    return pin ? std::vector<T>{*pin} : values;
}
template <class T>
OtherValue other(const Configuration& chosen, const char* name, T Switches::*member, T value) {
    OtherValue changed{name, chosen.switches()};
    changed.switches.*member = value;
    return changed;
}
// A value of a switch, and its name where it is an alternative.
template <class T>
struct Named {
    T value;
    const char* name;
};
template <class Values>
auto values_of(const Values& all) {
    std::vector<std::remove_cvref_t<decltype(std::begin(all)->value)>> values;
    values.reserve(std::size(all));
    for (const auto& each : all) values.push_back(each.value);
    return values;
}
// The chosen configuration with each of the values in place of its own.
template <class T, class Values>
std::vector<OtherValue> all_others(const Configuration& chosen, T Switches::*member, const Values& all) {
    std::vector<OtherValue> others;
    for (const auto& each : all) {
        if (each.value != chosen.switches().*member) others.push_back(other(chosen, each.name, member, each.value));
    }
    return others;
}
// Whether ranks may exchange the rows alone that they need.
bool may_exchange_rows(const Pins& pins);
inline OtherValue turned(const Configuration& chosen, bool Switches::*member) {
    const bool on = chosen.switches().*member;
    return other(chosen, on ? "off" : "on", member, !on);
}

}  // namespace gnnplan::enumerate
