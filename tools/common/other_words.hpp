// Arguments that people know from other programs, or from the other one of the two tools.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace gnnplan::tools {

// Says what to write in place of an argument that `command` does not know: "did you mean --ranks?", or the command
// whose flag it is. Empty: nothing is known of it.
std::string other_words_hint(const CLI::App& command, const std::string& argument);
// The same of a subcommand that there is not: "gnnplan train" is gnnrun.
std::string other_commands_hint(const std::string& command);

}  // namespace gnnplan::tools
