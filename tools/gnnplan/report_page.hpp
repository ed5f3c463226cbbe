// The page that `gnnplan report` writes: its template, style and scripts, Chart.js and the data in one HTML file.
#pragma once

#include "planner/io/document.hpp"

#include <string>
#include <string_view>

namespace gnnplan::tools {

// The text of Debian's Chart.js, which is installed beside the program: in $GNNPLAN_SHARE, in ../share/gnnplan from the
// program, or where Debian puts it. Throws Error{unavailable} where it is in none of these.
std::string chart_script();

// The whole page. It loads nothing: what it draws is `data`, a gnnplan.page/1 document.
std::string plan_page(const io::Document& data, std::string_view title, std::string_view chart);

}  // namespace gnnplan::tools
