#include "planner/io/draft.hpp"

#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace gnnplan::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = ".tmp-";
constexpr int most_names = 1000;

std::string folder_of(const std::string& file) {
    const fs::path folder = fs::path(file).parent_path();
    return folder.empty() ? "." : folder.string();
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns "e.npy" for "e.npy.tmp-31539-0", and nothing for names that are not of this form.
std::string_view file_of(std::string_view name) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos) return {};
    const std::string_view numbers = name.substr(at + mark.size());
    const std::size_t dash = numbers.find('-');
    const bool drafts =
        dash != std::string_view::npos && is_number(numbers.substr(0, dash)) && is_number(numbers.substr(dash + 1));
    return drafts ? name.substr(0, at) : std::string_view();
}

bool is_named(const std::string& file, int descriptor) {
    struct stat named {};
    struct stat open {};
    return ::lstat(file.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 && named.st_ino == open.st_ino &&
           named.st_dev == open.st_dev;
}

// False when another process has the lock: that process takes the file for a leftover, and removes it.
bool lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

void remove_unlocked(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status {};
    const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    // A faster writer may have renamed the file meanwhile, and the name may belong to another file by now.
    if (regular && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(file, descriptor)) ::unlink(file.c_str());
    ::close(descriptor);
}

}  // namespace

std::string followed(const std::string& path) {
    constexpr int most_links = 40;  // as the system follows
    fs::path at = path;
    for (int i = 0; i < most_links; ++i) {
        std::error_code no_link;
        const fs::path to = fs::read_symlink(at, no_link);
        if (no_link) return at.string();
        at = at.parent_path() / to;
    }
    throw Error(ErrorCode::cannot_create, "too many links", path);
}

Target target_of(const std::string& path) {
    if (path.empty()) throw Error(ErrorCode::cannot_create, "the name of the output is empty");
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {followed(path)};
    if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::cannot_create, "is a directory", path);
    if (!S_ISREG(status.st_mode)) return {path, true};
    std::error_code nameless;
    const fs::path real = fs::canonical(path, nameless);
    if (nameless) return {path, true};  // such as /dev/stdout after its file was removed
    return {real.string()};
}

void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view file)>& of) {
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        const std::string_view file = file_of(name);
        if (!file.empty() && of(file)) remove_unlocked(entry->path().string());
    }
}

Draft::Draft(const Target& target, Use use) : target_(target.path) {
    ensure(!target.direct, "what is no regular file has no draft");
    const std::string own = fs::path(target_).filename().string();
    remove_leftovers(folder_of(target_), [&](std::string_view file) { return file == own; });
    if (use == Use::alone) open_without_name();
    if (descriptor_ < 0) open_with_name();
}

Draft::~Draft() {
    if (named_) ::unlink(place_.c_str());
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::string Draft::name(int number) const {
    return target_ + std::string(mark) + std::to_string(::getpid()) + "-" + std::to_string(number);
}

void Draft::fail(int error) const {
    throw Error(ErrorCode::cannot_create, "cannot create: " + system_reason(error), target_);
}

void Draft::open_without_name() {
    struct stat status {};
    if (::lstat(name(0).c_str(), &status) != 0 && errno != ENOENT) return;  // such a name cannot exist there
    descriptor_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return;
    place_ = "/proc/self/fd/" + std::to_string(descriptor_);
    // Where /proc is not mounted, the file could not get a name later.
    if (::access(place_.c_str(), F_OK) != 0) ::close(std::exchange(descriptor_, -1));
    if (descriptor_ >= 0) lock(descriptor_);  // before it gets a name
}

void Draft::open_with_name() {
    for (int i = 0; i < most_names; ++i) {
        place_ = name(i);
        descriptor_ = ::open(place_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) fail(errno);
        if (descriptor_ < 0) continue;
        if (lock(descriptor_) && is_named(place_, descriptor_)) {
            named_ = true;
            return;
        }
        ::close(std::exchange(descriptor_, -1));
    }
    throw Error(ErrorCode::cannot_create, "cannot create: too many temporary files beside it", target_);
}

void Draft::begin(std::string_view text, std::int64_t bytes) {
    write_at(descriptor_, 0, text, target_);
    if (::ftruncate(descriptor_, bytes) != 0)
        throw Error(ErrorCode::io, "cannot write: " + system_reason(errno), target_);
}

// Replacing a file takes a rename(), and that takes a name. False: the draft already has the name of its target.
bool Draft::take_name() {
    const auto link_to = [this](const std::string& name) {
        return ::linkat(AT_FDCWD, place_.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (link_to(target_)) return false;
    for (int i = 0; errno == EEXIST && i < most_names; ++i) {
        const std::string free = name(i);
        if (!link_to(free)) continue;
        place_ = free;
        named_ = true;
        return true;
    }
    fail(errno);
}

void Draft::publish() {
    if ((named_ || take_name()) && ::rename(place_.c_str(), target_.c_str()) != 0) fail(errno);
    named_ = false;
    ::close(std::exchange(descriptor_, -1));
}

}  // namespace gnnplan::io
