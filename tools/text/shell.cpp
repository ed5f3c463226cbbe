#include "tools/text/shell.hpp"

#include "planner/io/parse.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

std::string shell_quoted(const std::string& word) {
    const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted += "'";
    if (io::printable(word) == word) return quoted;
    quoted = "$'";  // as files hold it: with control characters spelled out
    for (const char c : word) {
        const std::string one(1, c);
        const bool plain_here =
            static_cast<unsigned char>(c) < 0x80 && io::printable(one) == one && c != '\'' && c != '\\';
        quoted += plain_here ? one : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return quoted + "'";
}

}  // namespace

std::string command_line(const std::vector<std::string>& arguments) {
    std::string line;
    for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + shell_quoted(argument);
    return line;
}

}  // namespace gnnplan::tools
