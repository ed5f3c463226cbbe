#include "runtime/generate/npz_writer.hpp"

#include <gnnplan/base/error.hpp>

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gnnplan::data {
namespace {

// The text before the numbers (.npy format 1.0), padded to a multiple of 64 bytes.
std::string npy_start(const std::string& type, const std::vector<std::int64_t>& shape) {
    std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
    for (const std::int64_t size : shape) text += std::to_string(size) + ", ";
    text += "), }";
    constexpr std::size_t prefix = 10;
    text.append(63 - (prefix + text.size()) % 64, ' ');
    text += '\n';
    std::string start("\x93NUMPY\x01\x00", 8);
    start += static_cast<char>(text.size() & 255U);
    start += static_cast<char>(text.size() >> 8U);
    return start + text;
}

// The source that libzip calls back to read one member. libzip is C: nothing may be thrown through it.
struct Member {
    std::string start;
    ArrayBytes bytes;
    std::size_t sent = 0;  // of start
    zip_error_t error{};

    std::size_t read(std::span<char> buffer) {
        const std::size_t count = std::min(buffer.size(), start.size() - sent);
        std::memcpy(buffer.data(), start.data() + sent, count);
        sent += count;
        return count + bytes.next(buffer.subspan(count));
    }
};

zip_int64_t member_callback(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto* member = static_cast<Member*>(state);
    switch (command) {
        case ZIP_SOURCE_SUPPORTS:
            return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                                  ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
        case ZIP_SOURCE_OPEN:
            member->sent = 0;
            member->bytes.restart();
            return 0;
        case ZIP_SOURCE_READ:
            return static_cast<zip_int64_t>(member->read({static_cast<char*>(data), static_cast<std::size_t>(length)}));
        case ZIP_SOURCE_CLOSE: return 0;
        case ZIP_SOURCE_STAT: zip_stat_init(static_cast<zip_stat_t*>(data)); return 0;
        case ZIP_SOURCE_ERROR: return zip_error_to_data(&member->error, data, length);
        case ZIP_SOURCE_FREE: delete member; return 0;
        default: zip_error_set(&member->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

}  // namespace

NpzWriter::NpzWriter(const std::filesystem::path& path) : path_(path), archive_(nullptr, zip_discard) {
    int code = 0;
    zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (archive == nullptr) throw Error(ErrorCode::cannot_create, "cannot create the archive", path.string());
    archive_.reset(archive);
}

void NpzWriter::add(const std::string& array, const std::string& type, const std::vector<std::int64_t>& shape,
                    ArrayBytes bytes) {
    auto member = std::make_unique<Member>();
    member->start = npy_start(type, shape);
    member->bytes = std::move(bytes);
    zip_error_init(&member->error);
    zip_source_t* source = zip_source_function(archive_.get(), member_callback, member.get());
    ensure(source != nullptr, "zip source");
    static_cast<void>(member.release());  // freed by libzip with the source
    const zip_int64_t index = zip_file_add(archive_.get(), (array + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        throw Error(ErrorCode::internal, std::string("zip: ") + zip_strerror(archive_.get()), path_.string());
    }
    constexpr zip_uint32_t fastest = 1;
    zip_set_file_compression(archive_.get(), static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, fastest);
    zip_file_set_mtime(archive_.get(), static_cast<zip_uint64_t>(index), 315532800,
                       0);  // 1980: the same bytes each time
}

void NpzWriter::close() {
    if (zip_close(archive_.get()) != 0) {
        throw Error(ErrorCode::io, std::string("cannot write the archive: ") + zip_strerror(archive_.get()),
                    path_.string());
    }
    static_cast<void>(archive_.release());  // zip_close freed it
}

}  // namespace gnnplan::data
