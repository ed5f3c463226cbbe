#include <gnnplan/io.hpp>

#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"

namespace gnnplan {

Plan read_plan(const std::string& path) { return io::read_plan(io::read_file(path), path); }

}  // namespace gnnplan
