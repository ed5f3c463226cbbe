// Helpers that the files of switches share. Each file defines rows of the table in switches.cpp.
#pragma once

#include "planner/enumerate/switches.hpp"

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
// Whether ranks may exchange the rows alone that they need.
bool may_exchange_rows(const Pins& pins);
inline OtherValue turned(const Configuration& chosen, bool Switches::*member) {
    const bool on = chosen.switches().*member;
    return other(chosen, on ? "off" : "on", member, !on);
}

}  // namespace gnnplan::enumerate
