#include "tools/gnnplan/output.hpp"

#include "tools/common/main.hpp"

namespace gnnplan::tools {

void print_json(const io::Document& document) { print(io::dump(document, 1) + "\n"); }

void say_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) say("{}\n", line);
}

void say_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) say("note: {}\n", note);
}

}  // namespace gnnplan::tools
