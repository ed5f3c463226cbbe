// Whole files in and out. A file that is written is complete or not there at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gnnplan::io {

// The system's message for an errno.
std::string system_reason(int error);

// Whether anything exists at a path that a user has given. Throws Error{missing_input} when the system cannot tell, as
// for names that are too long.
bool is_there(const std::string& path);

// The bytes of a regular file, at most 1 GiB. Throws Error{missing_input} when it cannot be opened or is a directory, a
// pipe or a device, Error{io} when reading fails half-way, Error{data} when it is larger.
std::string read_file(const std::string& path);
// The same for files of any size.
std::string read_large_file(const std::string& path);

// Finds out before long work that `path` cannot be written. Throws Error{cannot_create}; leaves nothing behind.
void check_can_create(const std::string& path);

// Writes a draft (draft.hpp), flushes it to disk and gives it the name `path`; a link is followed. A target that is not
// a regular file, such as /dev/stdout, is written directly. Throws Error{cannot_create} when the file cannot be
// created, Error{io} when writing fails; `path` is then as it was and nothing is left beside it.
void write_file_atomically(const std::string& path, std::string_view text);

// Writes all bytes at this offset of an open file, which messages call `path`. Throws Error{io}.
void write_at(int descriptor, std::int64_t offset, std::string_view bytes, const std::string& path);

// The path of a file of this name in the folder into which the output `path` is really written.
std::string beside(const std::string& path, const std::string& name);

// Writes parts of a draft; several processes may do so at a time. All functions throw Error{io}.
class PartWriter {
public:
    // Opens the draft at `place`; messages call it `path`.
    PartWriter(const std::string& path, const std::string& place);
    ~PartWriter();
    PartWriter(const PartWriter&) = delete;
    PartWriter& operator=(const PartWriter&) = delete;
    void write(std::int64_t offset, std::string_view bytes);
    // To be called after the last part.
    void close();

private:
    std::string path_;
    int descriptor_;
};

}  // namespace gnnplan::io
