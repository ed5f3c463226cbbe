// Results on stdout.
#pragma once

#include "planner/io/document.hpp"

namespace gnnplan::tools {

// One JSON object on stdout.
void print_json(const io::Document& document);

}  // namespace gnnplan::tools
