#include "runtime/read/input.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace gnnplan::data {
namespace {

class GzipFile final : public InputStream {
public:
    explicit GzipFile(const std::filesystem::path& path) : name_(path.string()) {
        errno = 0;
        file_ = gzopen(path.c_str(), "rb");
        if (file_ == nullptr && (errno == 0 || errno == ENOMEM)) throw OutOfMemory(buffer_bytes);  // so zlib says it
        if (file_ == nullptr)
            throw Error(ErrorCode::missing_input, std::string("cannot open: ") + std::strerror(errno), name_);
        gzbuffer(file_, buffer_bytes);
    }
    GzipFile(const GzipFile&) = delete;
    GzipFile& operator=(const GzipFile&) = delete;
    ~GzipFile() override { gzclose(file_); }

    std::size_t read(std::span<char> buffer) override {
        std::size_t done = 0;
        while (done < buffer.size()) {
            const std::size_t ask = std::min<std::size_t>(buffer.size() - done, std::numeric_limits<int>::max());
            const int got = gzread(file_, buffer.data() + done, static_cast<unsigned>(ask));
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        if (done < buffer.size()) check();
        return done;
    }

    const std::string& name() const override { return name_; }

    std::optional<std::int64_t> size() const override {
        std::error_code failed;
        const std::uintmax_t bytes = std::filesystem::file_size(name_, failed);
        if (failed || gzdirect(file_) == 0) return std::nullopt;
        return static_cast<std::int64_t>(bytes);
    }
    void seek(std::int64_t offset) override {
        gzdirect(file_);  // looks at the file: until zlib knows that it is plain, it reads all up to the offset
        if (gzseek(file_, offset, SEEK_SET) != offset)
            throw Error(ErrorCode::io, "cannot go to byte " + std::to_string(offset), name_);
    }

private:
    void check() {
        int status = Z_OK;
        const char* text = gzerror(file_, &status);
        if (status == Z_ERRNO) throw Error(ErrorCode::io, std::string("read failed: ") + std::strerror(errno), name_);
        if (status == Z_MEM_ERROR) throw OutOfMemory(buffer_bytes);
        if (status == Z_BUF_ERROR) throw Error(ErrorCode::data, "the gzip file is cut short", name_);
        if (status != Z_OK && status != Z_STREAM_END) {
            throw Error(ErrorCode::data, std::string("damaged gzip file: ") + text, name_);
        }
    }

    static constexpr unsigned buffer_bytes = 256 * 1024;

    std::string name_;
    gzFile file_ = nullptr;
};

class MemoryInput final : public InputStream {
public:
    MemoryInput(std::string name, std::span<const char> bytes) : name_(std::move(name)), bytes_(bytes), rest_(bytes) {}

    std::size_t read(std::span<char> buffer) override {
        const std::size_t count = std::min(buffer.size(), rest_.size());
        std::copy_n(rest_.begin(), count, buffer.begin());
        rest_ = rest_.subspan(count);
        return count;
    }

    const std::string& name() const override { return name_; }
    std::optional<std::int64_t> size() const override { return std::ssize(bytes_); }
    void seek(std::int64_t offset) override { rest_ = bytes_.subspan(static_cast<std::size_t>(offset)); }

private:
    std::string name_;
    std::span<const char> bytes_;
    std::span<const char> rest_;
};

}  // namespace

void InputStream::seek(std::int64_t) { ensure(false, "only streams of known size can be read from anywhere"); }

std::unique_ptr<InputStream> open_input(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) {
        throw Error(ErrorCode::missing_input, "is a folder, not a file", path.string());
    }
    // Data is opened more than once, which a pipe does not allow.
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        throw Error(ErrorCode::missing_input, "is not a regular file", path.string(), "save it to a file first");
    }
    // Files of the system that wait for events report a size of 0, as empty files do.
    if (std::filesystem::exists(status) && std::filesystem::file_size(path, ignored) == 0)
        return memory_input(path.string(), {});
    return std::make_unique<GzipFile>(path);
}

std::unique_ptr<InputStream> memory_input(std::string name, std::span<const char> bytes) {
    return std::make_unique<MemoryInput>(std::move(name), bytes);
}

}  // namespace gnnplan::data
