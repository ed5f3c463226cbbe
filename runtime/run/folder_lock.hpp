// One run at a time saves checkpoints in a folder: each removes what it thinks is old.
#pragma once

#include <optional>
#include <string>

namespace gnnplan::run {

// An advisory lock, as flock(2) gives: it ends with the process that holds it, however that ends.
class FolderLock {
public:
    FolderLock() = default;
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

    // Takes the lock of a folder that exists, unless this object holds it. Where the file system has no locks, the
    // answer is a note for the user, and nothing is held. Throws Error{cannot_create} when another run holds it, whose
    // process it names, or its file cannot be created.
    std::optional<std::string> take(const std::string& folder);

    // The same for a folder that need not exist. A folder that was made here and is still empty is removed with the
    // lock.
    std::optional<std::string> make_and_take(const std::string& folder);

private:
    std::string made_;
    std::string file_;
    int descriptor_ = -1;
};

}  // namespace gnnplan::run
