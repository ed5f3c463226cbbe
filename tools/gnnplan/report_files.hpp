// The files of tools/gnnplan/report/, which CMake puts into the program.
#pragma once

#include <string_view>

namespace gnnplan::tools {

extern const std::string_view page_template;  // page.html, with {{NAME}} where parts come
extern const std::string_view page_style;
extern const std::string_view page_script;  // all .js files, one after the other

}  // namespace gnnplan::tools
