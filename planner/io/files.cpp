#include "planner/io/files.hpp"

#include "planner/io/draft.hpp"

#include <gnnplan/base/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace gnnplan::io {
namespace {

constexpr off_t max_file_bytes = off_t{1} << 30;

// An open file descriptor.
class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    int get() const { return descriptor_; }
    // Closes now; false when the system reports that earlier writes failed.
    bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

private:
    int descriptor_;
};

void flush(int descriptor, const std::string& path) {
    if (::fsync(descriptor) != 0) throw Error(ErrorCode::io, "cannot write: " + system_reason(errno), path);
}

// A pipe has no places to write at.
void write_all(int descriptor, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            throw Error(ErrorCode::io, "cannot write: " + system_reason(errno), path);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void write_directly(const std::string& path, std::string_view text) {
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) throw Error(ErrorCode::cannot_create, "cannot open: " + system_reason(errno), path);
    write_all(file.get(), text, path);
    if (!file.close()) throw Error(ErrorCode::io, "cannot write: " + system_reason(errno), path);
}

// Waits until a pipe has more data, or all of its writers are gone. False: waiting failed, with the reason in errno.
bool wait_for(int pipe) {
    pollfd more{pipe, POLLIN, 0};
    return ::poll(&more, 1, -1) >= 0 || errno == EINTR;
}

std::string read_whole(const std::string& path, off_t limit) {
    // Without O_NONBLOCK, opening a pipe that nobody writes into would wait for ever.
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) throw Error(ErrorCode::missing_input, "cannot open: " + system_reason(errno), path);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw Error(ErrorCode::io, "cannot read: " + system_reason(errno), path);
    if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::missing_input, "is a directory, not a file", path);
    const bool pipe = S_ISFIFO(status.st_mode);
    if (!pipe && !S_ISREG(status.st_mode))
        throw Error(ErrorCode::missing_input, "is not a regular file", path, "save it to a file first");
    const Error too_large(ErrorCode::data, "larger than 1 GiB", path);
    if (status.st_size > limit) throw too_large;
    std::string text;
    if (!pipe && status.st_size == 0) return text;  // files of the system that wait for events have size 0, too
    std::string buffer(std::size_t{1} << 16U, '\0');
    while (true) {  // it may grow meanwhile
        const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
        if (count == 0 && pipe && text.empty())
            throw Error(ErrorCode::missing_input, "is a pipe, and nobody writes into it", path,
                        "start its writer first");
        if (count == 0) return text;
        if (count < 0) {
            if (errno == EINTR || (errno == EAGAIN && wait_for(file.get()))) continue;
            throw Error(ErrorCode::io, "cannot read: " + system_reason(errno), path);
        }
        text.append(buffer, 0, static_cast<std::size_t>(count));
        if (text.size() > static_cast<std::size_t>(limit)) throw too_large;
    }
}

}  // namespace

std::string system_reason(int error) { return std::generic_category().message(error); }

bool is_there(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    throw Error(ErrorCode::missing_input, "cannot be looked at: " + system_reason(errno), path);
}

std::string read_large_file(const std::string& path) { return read_whole(path, std::numeric_limits<off_t>::max()); }

std::string read_file(const std::string& path) { return read_whole(path, max_file_bytes); }

void check_can_create(const std::string& path) {
    const Target target = target_of(path);
    if (!target.direct) const Draft probe(target);  // permissions alone do not tell
}

void write_file_atomically(const std::string& path, std::string_view text) {
    const Target target = target_of(path);
    if (target.direct) return write_directly(path, text);
    Draft draft(target);
    write_at(draft.descriptor(), 0, text, path);
    flush(draft.descriptor(), path);
    draft.publish();
}

void write_at(int descriptor, std::int64_t offset, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Error(ErrorCode::io, "cannot write: " + system_reason(errno), path);
        bytes.remove_prefix(static_cast<std::size_t>(count));
        offset += count;
    }
}

std::string beside(const std::string& path, const std::string& name) {
    return (std::filesystem::path(target_of(path).path).parent_path() / name).string();
}

PartWriter::PartWriter(const std::string& path, const std::string& place)
    : path_(path), descriptor_(::open(place.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(ErrorCode::io, "cannot open: " + system_reason(errno), place);
}

PartWriter::~PartWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void PartWriter::write(std::int64_t offset, std::string_view bytes) { write_at(descriptor_, offset, bytes, path_); }

void PartWriter::close() {
    flush(descriptor_, path_);
    if (::close(std::exchange(descriptor_, -1)) != 0)
        throw Error(ErrorCode::io, "cannot write: " + system_reason(errno), path_);
}

}  // namespace gnnplan::io
