// Streams of bytes that readers read from: plain and gzip files, and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace gnnplan::data {

class InputStream {
public:
    virtual ~InputStream() = default;
    // Fills the buffer; fewer bytes than asked only at the end. Throws ErrorCode::data when the content is damaged,
    // ErrorCode::io when reading fails.
    virtual std::size_t read(std::span<char> buffer) = 0;
    virtual const std::string& name() const = 0;  // for messages: the path, or archive:member

    // How many bytes there are, where any of them can be read without those before it: nothing for what is compressed.
    virtual std::optional<std::int64_t> size() const { return std::nullopt; }
    // Reading goes on with byte `offset`. Only where size() is known.
    virtual void seek(std::int64_t offset);
};

// A file, decompressed when it is gzip. Throws ErrorCode::missing_input when it cannot be opened.
std::unique_ptr<InputStream> open_input(const std::filesystem::path& path);

// Bytes that outlive the stream.
std::unique_ptr<InputStream> memory_input(std::string name, std::span<const char> bytes);

}  // namespace gnnplan::data
