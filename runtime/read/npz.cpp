#include "runtime/read/npz.hpp"

#include <gnnplan/base/error.hpp>

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace gnnplan::data {
namespace {

// Deflate shrinks by at most 1032 (RFC 1951: 258 bytes for two bits); a directory that says more lies about the size.
constexpr std::uint64_t largest_ratio = 1032;

std::string message_of(int code) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return text;
}

// Lack of memory makes libzip fail as a damaged archive does, but it is no fault of the archive.
void refuse_lack_of_memory(const zip_error_t* error) {
    const int code = zip_error_code_zip(error);
    const bool of_zlib = code == ZIP_ER_ZLIB && zip_error_code_system(error) == Z_MEM_ERROR;
    if (code == ZIP_ER_MEMORY || of_zlib) throw std::bad_alloc();
}

class ZipMember final : public InputStream {
public:
    // `stored_bytes`: how many it has, where it is not compressed.
    ZipMember(std::shared_ptr<zip> archive, std::uint64_t index, std::string name,
              std::optional<std::int64_t> stored_bytes)
        : archive_(std::move(archive)),
          name_(std::move(name)),
          stored_bytes_(stored_bytes),
          file_(zip_fopen_index(archive_.get(), index, 0)) {
        if (file_ != nullptr) return;
        refuse_lack_of_memory(zip_get_error(archive_.get()));
        throw Error(ErrorCode::data, zip_strerror(archive_.get()), name_);
    }
    ZipMember(const ZipMember&) = delete;
    ZipMember& operator=(const ZipMember&) = delete;
    ~ZipMember() override { zip_fclose(file_); }

    std::size_t read(std::span<char> buffer) override {
        std::size_t done = 0;
        // One byte past the end is asked for on purpose: that is when libzip checks the checksum.
        while (done < buffer.size()) {
            const zip_int64_t got = zip_fread(file_, buffer.data() + done, buffer.size() - done);
            if (got < 0) {
                refuse_lack_of_memory(zip_file_get_error(file_));
                throw Error(ErrorCode::data, std::string("damaged archive: ") + zip_file_strerror(file_), name_);
            }
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    const std::string& name() const override { return name_; }
    std::optional<std::int64_t> size() const override { return stored_bytes_; }
    void seek(std::int64_t offset) override {
        if (zip_fseek(file_, offset, SEEK_SET) == 0) return;
        refuse_lack_of_memory(zip_file_get_error(file_));
        throw Error(ErrorCode::io, std::string("cannot go on elsewhere: ") + zip_file_strerror(file_), name_);
    }

private:
    std::shared_ptr<zip> archive_;
    std::string name_;
    std::optional<std::int64_t> stored_bytes_;
    zip_file_t* file_;
};

}  // namespace

NpzArchive::NpzArchive(const std::filesystem::path& path) : ArrayArchive(path.string()) {
    int code = 0;
    zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (archive == nullptr) {
        if (code == ZIP_ER_MEMORY) throw std::bad_alloc();
        const bool missing = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN;
        throw Error(missing ? ErrorCode::missing_input : ErrorCode::data,
                    "cannot open the archive: " + message_of(code), name(),
                    missing ? "" : "it is cut short or damaged: download or save it again");
    }
    archive_ = {archive, zip_discard};
    refuse_doubles();
}

NpzArchive::NpzArchive(std::string name, std::span<const char> bytes) : ArrayArchive(std::move(name)) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t* archive = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
    const std::string text = zip_error_strerror(&error);
    const bool no_memory = zip_error_code_zip(&error) == ZIP_ER_MEMORY;
    zip_error_fini(&error);
    if (archive == nullptr) {
        zip_source_free(source);
        if (no_memory) throw std::bad_alloc();
        throw Error(ErrorCode::data, "cannot open the archive: " + text, ArrayArchive::name());
    }
    archive_ = {archive, zip_discard};
    refuse_doubles();
}

std::vector<std::string> NpzArchive::arrays() const {
    std::vector<std::string> names;
    for (const std::string& member : members()) {
        if (member.ends_with(".npy")) names.push_back(member.substr(0, member.size() - 4));
    }
    return names;
}

std::vector<std::string> NpzArchive::members() const {
    std::vector<std::string> names;
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* member = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
        names.emplace_back(member == nullptr ? "" : member);
    }
    return names;
}

// When two members have one name, NumPy reads the last and libzip the first.
void NpzArchive::refuse_doubles() const {
    std::vector<std::string> names = members();
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
        throw Error(ErrorCode::data, "the archive holds two members of this name", name() + ":" + *twice,
                    "save the arrays again, each under a name of its own");
    }
}

bool NpzArchive::has(const std::string& array) const {
    return zip_name_locate(archive_.get(), (array + ".npy").c_str(), 0) >= 0;
}

NpyReader NpzArchive::open(const std::string& array) const {
    const std::string where = name() + ":" + array;
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat(archive_.get(), (array + ".npy").c_str(), 0, &stat) != 0) {
        throw Error(ErrorCode::data, "the archive has no array of this name", where);
    }
    constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_INDEX;
    if ((stat.valid & wanted) != wanted || stat.size / largest_ratio > stat.comp_size) {
        throw Error(ErrorCode::data, "the archive lies about the size of this array", where);
    }
    const auto bytes = static_cast<std::int64_t>(stat.size);
    const bool stored = (stat.valid & ZIP_STAT_COMP_METHOD) != 0 && stat.comp_method == ZIP_CM_STORE;
    const auto seekable = stored ? std::optional(bytes) : std::nullopt;
    return {std::make_unique<ZipMember>(archive_, stat.index, where, seekable), bytes};
}

}  // namespace gnnplan::data
