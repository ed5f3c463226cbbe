#include "tools/text/lines.hpp"

#include <gnnplan/base/words.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// Takes what stands two blanks behind the rest off a line that stays half full without it.
std::string take_last_part(std::string& line, std::size_t width) {
    const std::size_t begin = line.rfind("  ");
    if (begin == std::string::npos || begin < width / 2 || begin + 2 >= line.size()) return "";
    std::string part = line.substr(begin + 2);
    line.erase(begin);
    return part;
}

}  // namespace

std::optional<std::size_t> terminal_width(int descriptor) {
    constexpr std::size_t narrowest = 60, widest = 160;
    winsize size{};
    // A terminal that does not know its size says 0.
    if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
    return std::clamp<std::size_t>(size.ws_col, narrowest, widest);
}

std::size_t line_width() { return terminal_width(STDOUT_FILENO).value_or(page_width); }

std::size_t width_of(std::string_view text) {  // every byte but UTF-8 continuations
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> broken(std::string_view text, std::size_t width, std::string_view separator) {
    const std::string_view mark = separator.substr(0, separator.find_last_not_of(' ') + 1);
    std::vector<std::string> parts = split(text, separator);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) parts[i] += mark;
    std::vector<std::string> lines{parts.front()};
    for (std::size_t i = 1; i < parts.size(); ++i) {
        std::string& line = lines.back();
        if (lines.size() > 1 && line.empty()) {
            line = parts[i];
        } else if (!line.empty() && width_of(line) + 1 + width_of(parts[i]) > width) {
            const std::string taken = take_last_part(line, width);
            line.erase(line.find_last_not_of(' ') + 1);
            lines.push_back(taken.empty() ? parts[i] : taken + " " + parts[i]);
        } else {
            line += " " + parts[i];
        }
    }
    return lines;
}

std::string wrapped(std::string_view first, std::string_view further, std::string_view text,
                    std::string_view separator) {
    std::string all;
    for (const std::string& line :
         broken(text, line_width() - std::max(width_of(first), width_of(further)), separator)) {
        all += std::string(all.empty() ? first : further) + line + "\n";
    }
    return all;
}

std::string labelled(std::string_view label, std::string_view text, std::size_t begin) {
    const std::string blanks(begin, ' ');
    return wrapped(std::string(label) + blanks.substr(std::min(blanks.size(), label.size())), blanks, text);
}

}  // namespace gnnplan::tools
