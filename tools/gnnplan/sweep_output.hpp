// A sweep as tables.
#pragma once

#include "tools/advise/sweep/sweep.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

struct NamedTable {
    std::string name;  // "hidden=16", "" where there is one only
    Table table;
};

// Where several schemes compete along an axis: a table per race, a row per setting of the axis, a column per
// competitor, with the fastest of the row marked. Else one row per point. No line is longer than `width` unless a
// point cannot say itself in less: columns that tell least are left out.
std::vector<NamedTable> sweep_tables(const Sweep& sweep, std::size_t width = page_width);

// The meaning of the marks in the cells of sweep_tables(), "" where there are none.
std::string marks_text(const Sweep& sweep, std::size_t width = page_width);

// One row per point with everything that was chosen, however long.
Table full_table(const Sweep& sweep);

}  // namespace gnnplan::tools
