#include "tools/text/counts.hpp"

#include "tools/text/format.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gnnplan::tools {

std::int64_t parse_count(const std::string& text, const Bounds& bounds) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < bounds.min || value > bounds.max) {
        const std::string upper =
            bounds.max == std::numeric_limits<std::int64_t>::max() ? "2^63 - 1" : format_count(bounds.max);
        throw Error(ErrorCode::usage,
                    fmt::format("'{}' is not a whole number from {} to {}", text, format_count(bounds.min), upper));
    }
    return value;
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
