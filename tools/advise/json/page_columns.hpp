// Columns of a page that are long are written in fewer bytes.
#pragma once

#include "planner/io/document.hpp"

namespace gnnplan::tools {

// The array, or, where that saves much, its distinct values and for each entry which of them it is (from 0):
// {"values": [...], "at": [...]}.
io::Document column(io::Document array);

// `memory_over_steps` with such columns; its steps are null where they are those of `names` and many.
io::Document with_columns(io::Document memory_over_steps, const io::Document& names);

}  // namespace gnnplan::tools
