// Bytes as people read them: memory in GiB and MiB, everywhere the same.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gnnplan {

// Three significant digits, or all of a whole number below 1000.
inline std::string three_digits(double value) {
    const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    std::string text = buffer.data();
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

// A number in the largest of units that are `step` apart in which it is at least 1.
struct ScaledText {
    std::string number;
    const char* unit = "";
    double size = 1;  // of the unit
    std::string text() const { return number + " " + unit; }
    bool is(double value) const { return std::strtod(number.c_str(), nullptr) * size == value; }  // nothing rounded
};

template <std::size_t n>
ScaledText scaled(double value, double step, const std::array<const char*, n>& names) {
    ScaledText scaled;
    std::size_t i = 0;
    // 999.6 would be printed as 1000 of the smaller unit.
    for (; i + 1 < n && value / scaled.size >= step - 0.5; ++i) scaled.size *= step;
    scaled.unit = names[i];
    scaled.number = three_digits(value / scaled.size);
    return scaled;
}

inline ScaledText scaled_memory(double bytes) {
    return scaled(bytes, 1024, std::array{"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}
inline ScaledText scaled_volume(double bytes) {
    return scaled(bytes, 1000, std::array{"B", "kB", "MB", "GB", "TB", "PB"});
}

// "2.1 GiB"
inline std::string memory_text(std::int64_t bytes) { return scaled_memory(static_cast<double>(bytes)).text(); }

// The same, never less than the bytes: so much is enough.
inline std::string enough_memory_text(std::int64_t bytes) {
    const auto value = static_cast<double>(bytes);
    const ScaledText near = scaled_memory(value);
    const double shown = std::strtod(near.number.c_str(), nullptr);
    if (shown * near.size >= value) return near.text();
    const double last_digit = shown < 10 ? 0.01 : shown < 100 ? 0.1 : 1;
    return scaled_memory((shown + last_digit) * near.size).text();
}

// A limit as it was written, "290 MiB" or "16 GB (14.9 GiB)"; one of any other form as memory_text.
inline std::string limit_text(std::int64_t bytes) {
    const auto value = static_cast<double>(bytes);
    std::string memory = memory_text(bytes);
    const ScaledText volume = scaled_volume(value);
    if (volume.is(value) && !scaled_memory(value).is(value)) return volume.text() + " (" + memory + ")";
    return memory;
}

}  // namespace gnnplan
