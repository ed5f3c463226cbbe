#include "runtime/run/folder_lock.hpp"

#include "planner/io/files.hpp"
#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace gnnplan::run {
namespace {

constexpr const char* lock_name = "/.lock";

int open_lock(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) throw Error(ErrorCode::cannot_create, "cannot create: " + io::system_reason(errno), file);
    return descriptor;
}

// The holder of a lock removes its file when it ends. Then another file has this name, or none.
bool is_still(const std::string& file, int descriptor) {
    struct stat named {};
    struct stat open {};
    return ::stat(file.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 && named.st_ino == open.st_ino &&
           named.st_dev == open.st_dev;
}

// "process 31539 on node7", as its holder wrote; nothing if that is not there yet.
std::string holder_in(int descriptor) {
    std::array<char, 300> text{};
    const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
    const std::string line(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    return line.substr(0, line.find('\n'));
}

void write_holder(int descriptor) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::string line = fmt::format("process {} on {}\n", ::getpid(), host.data());
    // A line that cannot be written is missing in a message, no more.
    if (::ftruncate(descriptor, 0) == 0 && ::pwrite(descriptor, line.data(), line.size(), 0) < 0) errno = 0;
}

}  // namespace

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) {
        ::unlink(file_.c_str());
        ::close(descriptor_);
    }
    if (!made_.empty()) ::rmdir(made_.c_str());  // fails where there is something in it
}

std::optional<std::string> FolderLock::make_and_take(const std::string& folder) {
    std::error_code failure;
    if (!std::filesystem::exists(folder, failure)) made_ = folder;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw Error(ErrorCode::cannot_create, "cannot create the folder: " + failure.message(), folder);
    return take(folder);
}

std::optional<std::string> FolderLock::take(const std::string& folder) {
    const std::string file = folder + lock_name;
    while (descriptor_ < 0) {
        const int descriptor = open_lock(file);
        if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
            const int error = errno;
            const std::string holder = io::printable(holder_in(descriptor));
            ::close(descriptor);
            if (error == EINTR) continue;
            if (error != EWOULDBLOCK) {
                return fmt::format("{}: cannot be locked ({}): see that no other run uses it", folder,
                                   io::system_reason(error));
            }
            throw Error(ErrorCode::cannot_create,
                        fmt::format("another run{} writes into this folder",
                                    holder.empty() ? "" : fmt::format(" ({})", holder)),
                        folder, "wait for its end, or name another folder");
        }
        if (!is_still(file, descriptor)) {
            ::close(descriptor);
            continue;
        }
        file_ = file;
        descriptor_ = descriptor;
        write_holder(descriptor);
    }
    return std::nullopt;
}

}  // namespace gnnplan::run
