#include "planner/io/machine.hpp"

#include "planner/io/profile.hpp"

namespace gnnplan::io {

std::string write_machine(const Machine& machine) { return write_profile({machine, {}, {}}); }

Machine read_machine(std::string_view text, const std::string& where) { return read_profile(text, where).machine; }

}  // namespace gnnplan::io
