#include "tools/gnnplan/output.hpp"

#include "tools/common/main.hpp"

namespace gnnplan::tools {
namespace {

bool quiet = false;  // as of the process's stderr, which there is one of

}  // namespace

void print_json(const io::Document& document) { print(io::dump(document, 1) + "\n"); }

void be_quiet() { quiet = true; }
bool is_quiet() { return quiet; }

void say_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        if (!quiet || line.starts_with("warning: ")) say_line(line);
    }
}

void say_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) say_lines({"note: " + note});
}

}  // namespace gnnplan::tools
