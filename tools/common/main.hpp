// The frame of every tool around its work: arguments in, exit code out, errors said once.
#pragma once

#include "tools/text/shell.hpp"
#include "tools/text/streams.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::tools {

// To be called first: guards the standard streams. Sets up `app`: --version, --help that opens with the examples of
// `examples` (also of its subcommands, see add_command), and --color auto|always|never into `color`. Subcommands, which
// inherit from `app`, are added afterwards. `closing` and the exit codes end the help of the tool itself.
void set_up(CLI::App& app, const std::string& tool, const std::string& examples, const std::string& closing,
            std::string& color);

// A subcommand whose --help opens with `examples`, one per line.
CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples);

// Leaves the options under `heading` to --help-all, which `command` gets; its --help says how many they are.
void leave_to_help_all(CLI::App& command, const std::string& heading);

// Lets the help of a command of subcommands list the options of these, too.
void expand_help(CLI::App& command);

// The names of its subcommands, in the order they were added.
std::vector<std::string> subcommand_names(const CLI::App& app);

// The text of this command's --help.
std::string help_text(const CLI::App& app);

// The end before any work: of --help and --version, or of arguments with an error.
struct EarlyEnd {
    int code = 0;
    std::string error;  // empty: help was asked for
    std::string help;
};

// Parses the arguments. Returns nothing when the work can start; else the caller prints help or error with end_early().
std::optional<EarlyEnd> parse(CLI::App& app, int argc, const char* const* argv);

// Prints the help or the error, and returns the exit code.
int end_early(const EarlyEnd& end);

// "error: ..." on stderr, the only way in which errors are said. Options have their dashes (option_names.hpp). Control
// characters, which names of files may have and terminals obey, are shown as question marks.
void say_error(std::string_view message);

// The same of one rank that fails alone, without waiting for the others, and without memory for the text if need be.
void say_error_of_rank(int rank, const char* message) noexcept;

// Runs `work`. An Error is printed to stderr as "error: ..." and its code returned; any other exception is 70. stdout
// is flushed; when that fails the code is 74.
int run_guarded(const std::function<int()>& work);

// parse, then run_guarded.
int run_main(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& work);

}  // namespace gnnplan::tools
