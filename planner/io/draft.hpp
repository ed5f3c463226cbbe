// Files while they are written: none has its name before it is whole.
//
// Where the file system can (O_TMPFILE), a draft has no name at all, so that a process that is killed leaves nothing.
// Elsewhere, where other processes write to it as well, and for the moment in which it takes the place of an older file,
// it is called NAME.tmp-PROCESS-NUMBER. Its writer holds a lock of it (flock), which ends with the process however that
// ends: what is called so and is not locked was left by a process that was killed, and who writes NAME next removes it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gnnplan::io {

// What a link leads to, which need not be there; the path itself where it is none. Throws Error{cannot_create} on a circle.
std::string followed(const std::string& path);

// Where a file is really written: links are followed, to files that are not there yet, too. `direct`: it is no regular
// file, such as /dev/stdout, and has no draft.
struct Target {
    std::string path;
    bool direct = false;
};
// Throws Error{cannot_create} when it is a folder, or its name is empty.
Target target_of(const std::string& path);

class Draft {
public:
    // Other processes open a shared one by its place.
    enum class Use : std::uint8_t { alone, shared };

    // Beside a target, whose leftovers it removes. Throws Error{cannot_create}.
    explicit Draft(const Target& target, Use use = Use::alone);
    // What was not published is gone.
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    int descriptor() const { return descriptor_; }
    // What opens it once more: of one that is not shared, in this process only.
    const std::string& place() const { return place_; }

    // It begins with `text`, and there is room for `bytes` bytes. Throws Error{io}.
    void begin(std::string_view text, std::int64_t bytes);
    // It is whole, and flushed to disk: it gets its name. Throws Error{cannot_create}.
    void publish();

private:
    void open_without_name();
    void open_with_name();
    bool take_name();
    std::string name(int number) const;
    [[noreturn]] void fail(int error) const;

    std::string target_;
    std::string place_;
    int descriptor_ = -1;
    bool named_ = false;
};

// Removes what killed processes have left in a folder of the files whose names `of` accepts. Where the file system has no
// locks nobody can tell, and nothing is removed.
void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view file)>& of);

}  // namespace gnnplan::io
