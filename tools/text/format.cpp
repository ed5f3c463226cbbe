#include "tools/text/format.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/memory_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace gnnplan::tools {
namespace {

struct Unit {
    std::string_view name;
    double bytes;
};

constexpr double kilo = 1e3;
constexpr double kibi = 1024;
constexpr std::array<Unit, 10> units{{{"", 1},
                                      {"b", 1},
                                      {"kb", kilo},
                                      {"mb", kilo* kilo},
                                      {"gb", kilo* kilo* kilo},
                                      {"tb", kilo* kilo* kilo* kilo},
                                      {"kib", kibi},
                                      {"mib", kibi* kibi},
                                      {"gib", kibi* kibi* kibi},
                                      {"tib", kibi* kibi* kibi* kibi}}};

[[noreturn]] void refuse_size(std::string_view text) {
    throw Error(ErrorCode::usage, fmt::format("'{}' is no size", text), {}, "write for example 16GiB or 900MB");
}

// So few bytes without a unit are a forgotten unit.
constexpr std::int64_t least_without_unit = std::int64_t{1} << 20;

constexpr std::size_t letters_in_full = 12;
constexpr std::size_t worth_counting = 3;
constexpr std::size_t orders_cell = 28;
constexpr std::size_t orders_shown = 16;

// How often the first `period` letters stand at the beginning of `letters`, one after the other.
std::size_t repetitions(std::string_view letters, std::size_t period) {
    std::size_t count = 1;
    while (letters.substr(count * period, period) == letters.substr(0, period)) ++count;
    return count;
}

}  // namespace

std::int64_t parse_size(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value)) refuse_size(text);
    std::string suffix(end, text.data() + text.size());
    suffix.erase(0, suffix.find_first_not_of(' '));
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == suffix; });
    if (unit == units.end()) refuse_size(text);
    const double bytes = std::floor(value * unit->bytes);
    if (bytes < 1 || bytes > 0x1p62) refuse_size(text);
    if (suffix.empty() && bytes < least_without_unit) {
        throw Error(ErrorCode::usage, fmt::format("'{}' has no unit and would be {} bytes", text, bytes), {},
                    fmt::format("say {0}GiB or {0}MiB, or {0}B if bytes are meant", text));
    }
    return static_cast<std::int64_t>(bytes);
}

std::string format_count(std::int64_t value) {
    std::string text = std::to_string(value);
    const std::size_t first_digit = value < 0 ? 1 : 0;
    for (std::size_t i = text.size(); i > first_digit + 3; i -= 3) text.insert(i - 3, 1, ',');
    return text;
}

std::string format_number(double value) {
    if (std::abs(value) >= 1e7) return fmt::format("{:.4g}", value);
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string format_loss(double loss) {
    constexpr double largest_in_full = 1e5;
    if (std::isnan(loss)) return "nan";
    return std::abs(loss) < largest_in_full ? fmt::format("{:.4f}", loss) : fmt::format("{:.3e}", loss);
}

std::string format_bytes(std::int64_t bytes) { return scaled_volume(static_cast<double>(bytes)).text(); }

std::string format_memory(std::int64_t bytes) { return memory_text(bytes); }

std::string format_orders(std::string_view letters) {
    if (letters.size() <= letters_in_full) return std::string(letters);
    std::string text;
    while (!letters.empty()) {
        const std::size_t same = repetitions(letters, 1);
        const std::size_t pairs = letters.size() > 1 ? repetitions(letters, 2) : 1;
        if (same >= worth_counting || pairs < worth_counting) {
            text += letters.front() + (same > 1 ? std::to_string(same) : "");
            letters.remove_prefix(same);
        } else {
            text += fmt::format("({}){}", letters.substr(0, 2), pairs);
            letters.remove_prefix(2 * pairs);
        }
    }
    return text;
}

std::string format_orders_cell(std::string_view letters) {
    std::string text = format_orders(letters);
    if (text.size() <= orders_cell) return text;
    return fmt::format("{}…({})", text.substr(0, orders_shown), letters.size());
}

std::string format_seconds(double seconds) {
    if (seconds >= 1) return three_digits(seconds) + " s";
    return scaled(seconds * 1e9, kilo, std::array{"ns", "us", "ms", "s"}).text();
}

std::string left_text(double seconds) {
    constexpr double minute = 60, hour = 3600;
    if (seconds < 1) return "";
    if (seconds < 2 * minute) return fmt::format("  about {:.0f} s left", seconds);
    if (seconds < 2 * hour) return fmt::format("  about {:.0f} min left", seconds / minute);
    return fmt::format("  about {:.1f} h left", seconds / hour);
}

}  // namespace gnnplan::tools
