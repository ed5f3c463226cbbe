// A model in a few words, without its widths.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// "sage max, residual with bias".
std::string model_text(const ModelRecord& model);

}  // namespace gnnplan::tools
