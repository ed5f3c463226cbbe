// A Draft is a file that is still being written: no file gets its name before it is whole.
//
// Where the file system can (O_TMPFILE), a draft has no name at all, so that a process that is killed leaves nothing.
// On other file systems, where other processes write to it as well, and for the moment in which it replaces an older
// file, it is called NAME.tmp-PROCESS-NUMBER. Its writer locks it (flock), and the lock ends with the process, however
// that ends: a file of such a name without a lock was left by a killed process, and the next writer of NAME removes it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gnnplan::io {

// The target of a link, which need not exist; the path itself where it is none. Throws Error{cannot_create} on a loop.
std::string followed(const std::string& path);

// The place where a file is really written: links are followed, even to files that do not exist yet. `direct`: the file
// is not a regular one, such as /dev/stdout, and has no draft.
struct Target {
    std::string path;
    bool direct = false;
};
// Throws Error{cannot_create} when the path is a folder, or its name is empty.
Target target_of(const std::string& path);

class Draft {
public:
    // Other processes open a shared draft by its place().
    enum class Use : std::uint8_t { alone, shared };

    // Creates a draft beside its target, and removes leftovers of that target. Throws Error{cannot_create}.
    explicit Draft(const Target& target, Use use = Use::alone);
    // A draft that was not published is removed.
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    int descriptor() const { return descriptor_; }
    // The path that opens the draft once more. The path of a draft that is not shared works in this process only.
    const std::string& place() const { return place_; }

    // Writes `text` at the begin, and makes the draft `bytes` bytes long. Throws Error{io}.
    void begin(std::string_view text, std::int64_t bytes);
    // Flushes the draft, which is whole now, to disk, and gives it its name. Throws Error{cannot_create}.
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

// Removes the drafts that killed processes have left in a folder, for files whose names `of` accepts. Where the file
// system has no locks, leftovers cannot be told from drafts in use, and nothing is removed.
void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view file)>& of);

}  // namespace gnnplan::io
