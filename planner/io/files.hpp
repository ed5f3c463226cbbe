// Whole files in and out. A file that is written is complete or not there at all.
#pragma once

#include <string>
#include <string_view>

namespace gnnplan::io {

// The bytes of a file, at most 1 GiB. Throws Error{missing_input} when it cannot be opened or is a directory, Error{io}
// when reading fails half-way, Error{data} when it is larger.
std::string read_file(const std::string& path);

// The bytes of a regular file of any size. Throws the same, and Error{missing_input} when it is a pipe or a device.
std::string read_large_file(const std::string& path);

// Finds out before long work that `path` cannot be written. Throws Error{cannot_create}; leaves nothing behind.
void check_can_create(const std::string& path);

// Writes a temporary file beside `path`, flushes it to disk and renames it over `path`; a link is followed. What is no
// regular file, such as /dev/stdout, is written to directly. Throws Error{cannot_create} when the file cannot be
// created, Error{io} when writing fails; `path` is then as it was and nothing is left beside it.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace gnnplan::io
