// Results on stdout and in files.
#pragma once

#include "planner/io/document.hpp"

#include <string>

namespace gnnplan::tools {

// One JSON object on stdout.
void print_json(const io::Document& document);

// Finds out before a long search that `path` cannot be written. Throws Error{cannot_create}.
void check_can_create(const std::string& path);

}  // namespace gnnplan::tools
