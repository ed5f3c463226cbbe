// Writes commands so that they can be pasted into a shell.
#pragma once

#include <string>
#include <vector>

namespace gnnplan::tools {

// The arguments as one line that a shell reads back.
std::string command_line(const std::vector<std::string>& arguments);

}  // namespace gnnplan::tools
