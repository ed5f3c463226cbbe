#include "tools/text/streams.hpp"

#include "tools/text/lines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace gnnplan::tools {
namespace {

int print_error = 0;  // errno of the first write to stdout that failed

}  // namespace

void guard_standard_streams() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) >= 0) continue;
        // The lowest free number is given out, and the lower ones are open by now.
        ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files, too, is an error of the write
}

void say_text(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

void say_line(std::string_view line) noexcept {
    try {
        const auto width = terminal_width(STDERR_FILENO);
        std::string text;
        const auto lines =
            width ? broken(with_dashes(std::string(line)), *width - 2) : std::vector{with_dashes(std::string(line))};
        for (const std::string& part : lines) text += (text.empty() ? "" : "  ") + part + "\n";
        say_text(text);
    } catch (...) {  // no memory for the text
    }
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && print_error == 0) print_error = errno;
}

bool finish_printing() {
    if (std::fflush(stdout) != 0 && print_error == 0) print_error = errno;
    if (print_error == 0 && std::ferror(stdout) != 0) print_error = EIO;
    if (print_error == 0) return true;
    if (print_error != EPIPE) {
        say("error: cannot write to standard output: {}\n", std::generic_category().message(print_error));
    }
    return false;
}

}  // namespace gnnplan::tools
