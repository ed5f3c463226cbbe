// Results on stdout, and notes on stderr.
#pragma once

#include "planner/io/document.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

// One JSON object on stdout.
void print_json(const io::Document& document);

// On stderr, one line each.
void say_lines(const std::vector<std::string>& lines);
// The same as notes.
void say_notes(const std::vector<std::string>& notes);

}  // namespace gnnplan::tools
