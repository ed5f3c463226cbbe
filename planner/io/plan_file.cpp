#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"

#include <gnnplan/io.hpp>

#include <utility>

namespace gnnplan {

Plan read_plan(const std::string& path) { return io::read_plan(io::read_file(path), path); }

void write_plan(const std::string& path, Plan plan) {
    if (plan.tool_version.empty()) plan.tool_version = GNNPLAN_VERSION;
    io::write_file_atomically(path, io::write_plan(plan));
}

}  // namespace gnnplan
