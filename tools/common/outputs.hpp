// The files that a command is about to write.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct NamedFile {
    std::string name;  // the flag, or what the file is: "--report"
    std::optional<std::string> path;
};

// Finds out before any work that an output cannot be created. Throws Error{cannot_create} then, and Error{usage} when
// it is one of the inputs, or two outputs are one file. A folder among the inputs stands for the data files in it.
// Outputs that are no regular files, such as /dev/null, may be named twice.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace gnnplan::tools
