// A sweep as a table and as CSV.
#pragma once

#include "tools/gnnplan/sweep.hpp"

#include <string>

namespace gnnplan::tools {

// One row per point; the fastest is emphasised.
std::string sweep_table(const Sweep& sweep, bool color);

// One line per point, a header first. Settings stand under their keys, what was chosen under "best_...".
std::string sweep_csv(const Sweep& sweep);

// A cell as RFC 4180 wants it: quoted where it holds a comma, a quote or a line break.
std::string csv_cell(const std::string& text);

}  // namespace gnnplan::tools
