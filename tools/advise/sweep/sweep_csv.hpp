// A sweep as CSV.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <string>

namespace gnnplan::tools {

// One line per point, a header first. Settings stand under their keys, what was chosen under "best_...".
std::string sweep_csv(const Sweep& sweep);

// A cell as RFC 4180 wants it: quoted where it holds a comma, a quote or a line break.
std::string csv_cell(const std::string& text);

}  // namespace gnnplan::tools
