#include "tests/tools/tool.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gnnplan::testing {

Outcome gnnplan(const std::string& arguments) { return run_program(GNNPLAN_TOOL, arguments); }

Outcome run_program(const std::string& program, const std::string& arguments) {
    const Folder folder;
    const std::string errors = folder / "stderr";
    const std::string command = "NO_COLOR=1 '" + program + "' " + arguments + " 2>'" + errors + "'";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    Outcome outcome;
    std::array<char, 65536> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        outcome.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.err = read_text(errors);
    return outcome;
}

std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n';
        if (!blank || !line.ends_with(' ')) line += blank ? ' ' : c;
    }
    return line;
}

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0, width = 0;
    for (const char c : text) {
        if (c == '\n') width = 0;
        if (c != '\n' && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) widest = std::max(widest, ++width);
    }
    return widest;
}

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace gnnplan::testing
