// The answers of a plan, in a line each.
#pragma once

#include <gnnplan/select.hpp>

#include <string>

namespace gnnplan::tools {

// Says that runs of the plan have other results than full-batch training; "" where they do not.
std::string inexact_line(const Plan& plan);
// Whether it fits, the fastest plan, how it compares with what PyTorch Geometric does, and which schemes are a tie.
std::string answer_line(const Selection& selection);
// How sure that is.
std::string sure_line(const Selection& selection);

}  // namespace gnnplan::tools
