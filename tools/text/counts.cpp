#include "tools/text/counts.hpp"

#include "tools/text/format.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace gnnplan::tools {

namespace {

// How many places the decimal point of "1.6B" or "1e6" moves; `text` keeps the digits. Nothing if it is written
// otherwise.
std::optional<int> take_exponent(std::string& text) {
    constexpr std::array<std::pair<char, int>, 4> units{{{'k', 3}, {'K', 3}, {'M', 6}, {'B', 9}}};
    if (text.empty()) return std::nullopt;
    const auto* const unit = std::ranges::find(units, text.back(), &std::pair<char, int>::first);
    if (unit != units.end()) {
        text.pop_back();
        return unit->second;
    }
    const std::size_t e = text.find_first_of("eE");
    if (e == std::string::npos) return 0;
    const auto exponent = number_from<int>(std::string_view(text).substr(e + 1));
    if (!exponent || *exponent < 0 || *exponent > std::numeric_limits<std::int64_t>::digits10) return std::nullopt;
    text.resize(e);
    return exponent;
}

// "602", "1e6" and "1.6B" as whole numbers. Nothing if it is none.
std::optional<std::int64_t> whole_number(std::string text) {
    const std::optional<int> exponent = take_exponent(text);
    if (!exponent) return std::nullopt;
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::size_t decimals = point < text.size() ? text.size() - point - 1 : 0;
    if (decimals > static_cast<std::size_t>(*exponent)) return std::nullopt;
    if (point < text.size()) text.erase(point, 1);
    text.append(static_cast<std::size_t>(*exponent) - decimals, '0');
    return number_from<std::int64_t>(text);
}

}  // namespace

std::int64_t parse_count(const std::string& text, const Bounds& bounds) {
    const std::optional<std::int64_t> value = whole_number(text);
    if (!value || *value < bounds.min || *value > bounds.max) {
        const std::string upper =
            bounds.max == std::numeric_limits<std::int64_t>::max() ? "2^63 - 1" : format_count(bounds.max);
        throw Error(ErrorCode::usage,
                    fmt::format("'{}' is not a whole number from {} to {}", text, format_count(bounds.min), upper));
    }
    return *value;
}

std::vector<std::int64_t> parse_counts(const std::string& text, char separator, const Bounds& bounds) {
    std::vector<std::int64_t> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        values.push_back(parse_count(text.substr(begin, end - begin), bounds));
        begin = end + 1;
    }
    return values;
}

Grid parse_grid(const std::string& text) {
    const std::vector<std::int64_t> extents = parse_counts(text, 'x', {1, max_ranks});
    if (extents.size() != 2 && extents.size() != 3) {
        throw Error(ErrorCode::usage, fmt::format("'{}' is no grid", text), "`grid`", "write for example 2x3 or 2x3x2");
    }
    const auto extent = [&](std::size_t i) { return i < extents.size() ? static_cast<int>(extents[i]) : 1; };
    return {extent(0), extent(1), extent(2)};
}

std::int64_t parse_duration(const std::string& text) {
    constexpr std::array<std::pair<char, std::int64_t>, 4> units{{{'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}}};
    const Error wrong(ErrorCode::usage, fmt::format("'{}' is not a time such as 3h50m, 90s or 1d12h", text));
    std::int64_t seconds = 0;
    std::size_t begin = 0;
    for (const auto& [unit, length] : units) {
        const std::size_t end = text.find(unit, begin);
        if (end == std::string::npos) continue;
        std::int64_t number = 0;
        const char* last = text.data() + end;
        const auto [stop, error] = std::from_chars(text.data() + begin, last, number);
        constexpr std::int64_t most = 1'000'000;
        if (error != std::errc() || stop != last || number < 0 || number > most) throw wrong;
        seconds += number * length;
        begin = end + 1;
    }
    if (begin != text.size() || seconds == 0) throw wrong;
    return seconds;
}

}  // namespace gnnplan::tools
