// Text broken into lines for a terminal.
#pragma once

#include <string>
#include <vector>

namespace gnnplan::tools {

inline constexpr std::size_t text_width = 100;

std::vector<std::string> split(const std::string& text, const std::string& separator);

// `text` behind `first`, broken after separators so that lines have at most text_width bytes; those after the first
// begin with `further`. A part that is longer stays whole.
std::string wrapped(const std::string& first, const std::string& further, const std::string& text,
                    const std::string& separator = " ");

}  // namespace gnnplan::tools
