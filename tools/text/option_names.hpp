// Options as a command line has them.
#pragma once

#include <string>
#include <string_view>

namespace gnnplan::tools {

// A message of the library (gnnplan/base/option.hpp) as people read it: "use `task infer`" becomes "use --task infer",
// and "`plan/graph`" becomes "gnnplan plan --graph". Texts that name no option stay as they are.
std::string with_dashes(std::string_view message);

}  // namespace gnnplan::tools
