// Whether a value holds anything: where it does not, files leave its key out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace gnnplan::io {

template <class T>
bool holds_something(const std::vector<T>& values) {
    return !values.empty();
}
template <class T>
bool holds_something(const std::optional<T>& value) {
    return value.has_value();
}
inline bool holds_something(const std::string& text) { return !text.empty(); }
inline bool holds_something(bool value) { return value; }
template <class E>
requires std::is_enum_v<E>
bool holds_something(E value) { return value != E(); }
inline bool holds_something(int value) { return value != 0; }
inline bool holds_something(double value) { return value != 0; }
inline bool holds_something(std::int64_t value) { return value != 0; }
// A record of several members holds something where it is not as by default.
template <class T>
requires std::is_class_v<T>
bool holds_something(const T& record) { return !(record == T()); }

}  // namespace gnnplan::io
