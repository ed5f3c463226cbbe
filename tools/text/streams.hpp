// stdout and stderr. A message on stderr never ends a run; results on stdout are checked in the end.
#pragma once

#include "tools/text/option_names.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace gnnplan::tools {

// To be called first. Standard streams that the caller closed are opened on /dev/null, so that no file of ours takes
// their numbers, stdout in a way that fails when it is written to. A reader that went away is an error of the write,
// not a signal.
void guard_standard_streams();

// Writes to stderr, as given. Text that cannot be written, to a full disk for instance, is lost without a word.
void say_text(std::string_view text) noexcept;

// The same, formatted, with dashes before the options that texts of the library name (option_names.hpp).
template <class... T>
void say(fmt::format_string<T...> format, T&&... values) noexcept {
    try {
        say_text(with_dashes(fmt::format(format, std::forward<T>(values)...)));
    } catch (...) {  // no memory for the text
    }
}

// One line, as say() does: whole for files and pipes, broken at the width of a terminal.
void say_line(std::string_view line) noexcept;

// Prints to stdout.
void print(std::string_view text);

// Whether all that was printed has arrived. Says on stderr when it has not, unless the reader went away, who knows.
bool finish_printing();

}  // namespace gnnplan::tools
