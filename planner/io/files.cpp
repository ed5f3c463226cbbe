#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace gnnplan::io {
namespace {

constexpr off_t max_file_bytes = off_t{1} << 30;

std::string reason(int error) { return std::generic_category().message(error); }

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

void write_all(int descriptor, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            throw Error(ErrorCode::io, "cannot write: " + reason(errno), path);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

// A new file beside `path`; the process number and a counter keep writers apart.
struct Temporary {
    std::string path;
    int descriptor;
};

Temporary create_beside(const std::string& path) {
    constexpr int attempts = 1000;
    for (int i = 0; i < attempts; ++i) {
        const std::string name = path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i);
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) return {name, descriptor};
        if (errno != EEXIST) throw Error(ErrorCode::cannot_create, "cannot create: " + reason(errno), path);
    }
    throw Error(ErrorCode::cannot_create, "cannot create: too many temporary files beside it", path);
}

void write_beside_and_rename(const std::string& path, std::string_view text) {
    const Temporary temporary = create_beside(path);
    try {
        File file(temporary.descriptor);
        write_all(file.get(), text, path);
        if (::fsync(file.get()) != 0) throw Error(ErrorCode::io, "cannot write: " + reason(errno), path);
        if (!file.close()) throw Error(ErrorCode::io, "cannot write: " + reason(errno), path);
        if (::rename(temporary.path.c_str(), path.c_str()) != 0) {
            throw Error(ErrorCode::cannot_create, "cannot create: " + reason(errno), path);
        }
    } catch (...) {
        ::unlink(temporary.path.c_str());
        throw;
    }
}

void write_directly(const std::string& path, std::string_view text) {
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) throw Error(ErrorCode::cannot_create, "cannot open: " + reason(errno), path);
    write_all(file.get(), text, path);
    if (!file.close()) throw Error(ErrorCode::io, "cannot write: " + reason(errno), path);
}

// Where a file is really written: links are followed; `direct` says it is no regular file.
struct Target {
    std::string path;
    bool direct;
};

Target target_of(const std::string& path) {
    if (path.empty()) throw Error(ErrorCode::cannot_create, "the name of the output is empty");
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) throw Error(ErrorCode::cannot_create, "is a directory", path);
    if (exists && !S_ISREG(status.st_mode)) return {path, true};
    std::error_code ignored;
    return {exists ? std::filesystem::canonical(path, ignored).string() : path, false};
}

std::string read_whole(const std::string& path, off_t limit) {
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) throw Error(ErrorCode::missing_input, "cannot open: " + reason(errno), path);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw Error(ErrorCode::io, "cannot read: " + reason(errno), path);
    if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::missing_input, "is a directory, not a file", path);
    const Error too_large(ErrorCode::data, "larger than 1 GiB", path);
    if (status.st_size > limit) throw too_large;
    std::string text;
    std::string buffer(std::size_t{1} << 16U, '\0');
    while (true) {  // a pipe has no size to go by
        const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
        if (count == 0) return text;
        if (count < 0) {
            if (errno == EINTR) continue;
            throw Error(ErrorCode::io, "cannot read: " + reason(errno), path);
        }
        text.append(buffer, 0, static_cast<std::size_t>(count));
        if (text.size() > static_cast<std::size_t>(limit)) throw too_large;
    }
}

}  // namespace

std::string read_large_file(const std::string& path) {
    std::error_code none;
    const std::filesystem::file_status status = std::filesystem::status(path, none);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status) &&
        !std::filesystem::is_regular_file(status)) {
        throw Error(ErrorCode::missing_input, "not a regular file", path);  // a pipe would be waited for
    }
    return read_whole(path, std::numeric_limits<off_t>::max());
}

std::string read_file(const std::string& path) { return read_whole(path, max_file_bytes); }

void check_can_create(const std::string& path) {
    const Target target = target_of(path);
    if (target.direct) return;
    const Temporary probe = create_beside(target.path);  // permissions alone do not tell
    ::close(probe.descriptor);
    ::unlink(probe.path.c_str());
}

void write_file_atomically(const std::string& path, std::string_view text) {
    const Target target = target_of(path);
    if (target.direct) return write_directly(path, text);
    write_beside_and_rename(target.path, text);
}

PartedFile begin_parted(const std::string& path, std::string_view text, std::int64_t bytes) {
    const Target target = target_of(path);
    if (target.direct) throw Error(ErrorCode::cannot_create, "not a regular file, which ranks could share", path);
    const Temporary temporary = create_beside(target.path);
    File file(temporary.descriptor);
    try {
        write_all(file.get(), text, path);
        if (::ftruncate(file.get(), bytes) != 0) throw Error(ErrorCode::io, "cannot write: " + reason(errno), path);
    } catch (...) {
        ::unlink(temporary.path.c_str());
        throw;
    }
    return {target.path, temporary.path};
}

PartWriter::PartWriter(const PartedFile& file)
    : path_(file.path), descriptor_(::open(file.temporary.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(ErrorCode::io, "cannot open: " + reason(errno), file.temporary);
}

PartWriter::~PartWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void PartWriter::write(std::int64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Error(ErrorCode::io, "cannot write: " + reason(errno), path_);
        bytes.remove_prefix(static_cast<std::size_t>(count));
        offset += count;
    }
}

void PartWriter::close() {
    const bool written = ::fsync(descriptor_) == 0;
    const int failure = errno;
    const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
    if (!written || !closed) throw Error(ErrorCode::io, "cannot write: " + reason(written ? errno : failure), path_);
}

void finish_parted(const PartedFile& file) {
    if (::rename(file.temporary.c_str(), file.path.c_str()) == 0) return;
    const int failure = errno;
    abandon_parted(file);
    throw Error(ErrorCode::cannot_create, "cannot create: " + reason(failure), file.path);
}

void abandon_parted(const PartedFile& file) noexcept { ::unlink(file.temporary.c_str()); }

}  // namespace gnnplan::io
