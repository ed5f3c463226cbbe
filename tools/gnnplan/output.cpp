#include "tools/gnnplan/output.hpp"

#include "tools/common/main.hpp"

namespace gnnplan::tools {

void print_json(const io::Document& document) { print(io::dump(document, 1) + "\n"); }

}  // namespace gnnplan::tools
