// The answers of a plan, in a line each.
#pragma once

#include <gnnplan/select.hpp>

#include <string>

namespace gnnplan::tools {

// Whether it fits, the fastest plan, how it compares with what PyTorch Geometric does, and which schemes are a tie.
std::string answer_line(const Selection& selection);
// How sure that is.
std::string sure_line(const Selection& selection);

}  // namespace gnnplan::tools
