// Results on stdout, and notes on stderr.
#pragma once

#include "planner/io/document.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

// One JSON object on stdout.
void print_json(const io::Document& document);

// From here on, no notes, facts and progress: of all that goes to stderr only warnings and errors are left.
void be_quiet();
bool is_quiet();

// On stderr, one line each.
void say_lines(const std::vector<std::string>& lines);
// The same as notes.
void say_notes(const std::vector<std::string>& notes);

}  // namespace gnnplan::tools
