// The files that a command is about to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::io {

struct NamedFile {
    std::string name;  // the flag, or what the file is: "--report"
    std::optional<std::string> path;
};

// Finds out before any work that an output cannot be created. Throws Error{cannot_create} then, and Error{usage} when
// it is one of the inputs, or two outputs are one file. A folder among the inputs stands for the data files in it.
// Outputs that are no regular files, such as /dev/null, may be named twice.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

// A file that is about to be written, and how large it will be.
struct ExpectedFile {
    std::string path;
    std::int64_t bytes = 0;
};

// Finds out before any work that the disks have no room for all of them. Throws Error{cannot_create} then.
// $GNNPLAN_DISK_FREE says what is free in place of the system, in bytes: for tests.
void check_free_space(const std::vector<ExpectedFile>& files);

}  // namespace gnnplan::io
