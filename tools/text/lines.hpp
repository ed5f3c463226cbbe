// Text broken into lines for a terminal or a page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::tools {

// Columns of what is no terminal: pages, files and pipes.
inline constexpr std::size_t page_width = 100;

// Columns of lines for a terminal: as many as it has, at least 60 and at most 160. None where `descriptor` is of a
// file or a pipe.
std::optional<std::size_t> terminal_width(int descriptor);

// Columns of lines on stdout, page_width where it is no terminal.
std::size_t line_width();

// Code points of UTF-8.
std::size_t width_of(std::string_view text);

// Lines of at most `width` code points, broken after separators; a part that is longer stays whole, and the blanks that
// end a separator are left out at the end of a line. Parts that stand two blanks apart are kept whole where a line
// stays half full. At least one line.
std::vector<std::string> broken(std::string_view text, std::size_t width, std::string_view separator = " ");

// Lines of at most line_width(), each ended by a line break: the first begins with `first`, those after it with
// `further`.
std::string wrapped(std::string_view first, std::string_view further, std::string_view text,
                    std::string_view separator = " ");

// "label    text", with further lines under the beginning of the text, which is `begin` columns from the left.
std::string labelled(std::string_view label, std::string_view text, std::size_t begin = 9);

}  // namespace gnnplan::tools
