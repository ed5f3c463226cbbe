#include "runtime/read/npy.hpp"

#include "runtime/read/npy_header.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/half.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace gnnplan::data {
namespace {

constexpr std::size_t scratch_bytes = std::size_t{1} << 16;

// Reverses the bytes of each item of `size` bytes.
void swap_bytes(std::span<char> items, std::size_t size) {
    for (std::size_t i = 0; i < items.size(); i += size) std::ranges::reverse(items.subspan(i, size));
}

}  // namespace

NpyReader::NpyReader(std::unique_ptr<InputStream> input, std::optional<std::int64_t> stored_bytes)
    : input_(std::move(input)), scratch_(scratch_bytes) {
    const std::string text = read_header_text();
    header_ = parse_npy_header(text, name());
    const std::int64_t promised = header_.count() * header_.item_bytes;
    if (stored_bytes && promised != *stored_bytes - header_bytes_) {
        fail("the header promises " + header_.describe() + ", " + std::to_string(promised) + " bytes, but " +
             std::to_string(*stored_bytes - header_bytes_) + " bytes follow");
    }
}

std::string NpyReader::read_header_text() {
    char start[8];
    read_exactly(start);
    if (std::memcmp(start, "\x93NUMPY", 6) != 0) {
        fail("is not an .npy array",
             "files of np.memmap have no header; np.save(NEW_FILE, np.memmap(FILE, dtype, 'r', shape=shape)) writes "
             "one");
    }
    const auto version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3) fail(".npy format version " + std::to_string(version) + " is unknown");
    unsigned char size[4] = {0, 0, 0, 0};
    const std::size_t size_bytes = version == 1 ? 2 : 4;
    read_exactly({reinterpret_cast<char*>(size), size_bytes});
    std::uint32_t length = 0;
    for (std::size_t i = size_bytes; i-- > 0;) length = length << 8U | size[i];
    if (length > scratch_bytes) fail("the .npy header is " + std::to_string(length) + " bytes long");
    std::string text(length, ' ');
    read_exactly(text);
    header_bytes_ = static_cast<std::int64_t>(sizeof start + size_bytes + length);
    position_ = 0;
    return text;
}

void NpyReader::read_exactly(std::span<char> bytes) {
    if (input_->read(bytes) != bytes.size()) fail("the array is cut short");
    position_ += std::ssize(bytes);
}

template <class Stored, class Out>
void NpyReader::read_as(std::span<Out> out) {
    while (!out.empty()) {
        const std::size_t count = std::min(out.size(), scratch_.size() / sizeof(Stored));
        const std::span<char> stored{scratch_.data(), count * sizeof(Stored)};
        read_exactly(stored);
        if (header_.big_endian) swap_bytes(stored, sizeof(Stored));
        for (std::size_t i = 0; i < count; ++i) {
            Stored value;
            std::memcpy(&value, scratch_.data() + i * sizeof(Stored), sizeof(Stored));
            if constexpr (std::is_same_v<Stored, std::uint64_t> && std::is_same_v<Out, std::int64_t>) {
                if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                    fail("holds " + std::to_string(value) + ", which is 2^63 or more");
                }
            }
            out[i] = static_cast<Out>(value);  // NOLINT(bugprone-signed-char-misuse): int8 is a number here
        }
        out = out.subspan(count);
    }
}

template <class Out>
void NpyReader::read_any_integer(std::span<Out> out) {
    const bool is_signed = header_.kind == 'i';
    if (!header_.is_integer() && header_.kind != 'b') fail("integers expected, found " + header_.describe());
    switch (header_.item_bytes) {
        case 1: return is_signed ? read_as<std::int8_t>(out) : read_as<std::uint8_t>(out);
        case 2: return is_signed ? read_as<std::int16_t>(out) : read_as<std::uint16_t>(out);
        case 4: return is_signed ? read_as<std::int32_t>(out) : read_as<std::uint32_t>(out);
        case 8: return is_signed ? read_as<std::int64_t>(out) : read_as<std::uint64_t>(out);
        default: fail("integers of " + std::to_string(header_.item_bytes) + " bytes are unknown");
    }
}

template <class Out>
void NpyReader::read_any_float(std::span<Out> out) {
    if (header_.is_bfloat16()) return read_as<Bfloat16>(out);
    switch (header_.item_bytes) {
        case 2: return read_as<Half>(out);
        case 4: return read_as<float>(out);
        default: return read_as<double>(out);
    }
}

void NpyReader::read_integers(std::span<std::int64_t> out) { read_any_integer(out); }

void NpyReader::read_doubles(std::span<double> out) {
    if (!header_.is_float()) return read_any_integer(out);
    read_any_float(out);
}

void NpyReader::read_floats(std::span<float> out) {
    if (!header_.is_float())
        fail("float16, bfloat16, float32 or float64 expected, found " + header_.describe(),
             "convert it with .astype(np.float32)");
    read_any_float(out);
}

std::string NpyReader::read_text() {
    if ((header_.kind != 'S' && header_.kind != 'U') || header_.count() != 1)
        fail("text expected, found " + header_.describe());
    std::string stored(static_cast<std::size_t>(header_.item_bytes), '\0');
    read_exactly(stored);
    const std::size_t step = header_.kind == 'U' ? 4 : 1;
    const std::size_t first = header_.big_endian ? step - 1 : 0;
    std::string text;
    for (std::size_t i = first; i < stored.size() && stored[i] != '\0'; i += step) text += stored[i];
    return text;
}

void NpyReader::skip(std::int64_t elements) {
    std::int64_t bytes = elements * header_.item_bytes;
    // A few bytes are read sooner than skipped.
    if (bytes > static_cast<std::int64_t>(scratch_.size()) && input_->size()) {
        position_ += bytes;
        if (header_bytes_ + position_ > *input_->size()) fail("the array is cut short");
        input_->seek(header_bytes_ + position_);
        return;
    }
    while (bytes > 0) {
        const auto count = std::min<std::int64_t>(bytes, static_cast<std::int64_t>(scratch_.size()));
        read_exactly({scratch_.data(), static_cast<std::size_t>(count)});
        bytes -= count;
    }
}

void NpyReader::finish() {
    char extra = 0;
    if (input_->read({&extra, 1}) != 0) fail("more bytes follow than the header promises");
}

void NpyReader::expect_dimensions(std::size_t dimensions) const {
    if (header_.shape.size() != dimensions) {
        fail(std::to_string(dimensions) + " dimension(s) expected, found " + header_.describe());
    }
    if (header_.fortran_order && dimensions > 1) fail("is stored in Fortran order", "save np.ascontiguousarray(array)");
}

void NpyReader::fail(const std::string& what, const std::string& hint) const {
    throw Error(ErrorCode::data, what, name(), hint);
}

}  // namespace gnnplan::data
