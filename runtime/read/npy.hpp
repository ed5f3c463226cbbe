// One NumPy array (.npy format 1.0 to 3.0) as a stream of numbers.
#pragma once

#include "runtime/read/input.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

struct NpyHeader {
    char kind = ' ';  // NumPy's: i, u, f, b (bool), S, U; V: bfloat16
    int item_bytes = 0;
    bool fortran_order = false;
    bool big_endian = false;
    std::vector<std::int64_t> shape;  // empty: a scalar

    std::int64_t count() const;    // elements
    std::string describe() const;  // "int64 [2, 10]"
    bool is_integer() const { return kind == 'i' || kind == 'u'; }
    bool is_bfloat16() const { return kind == 'V'; }
    bool is_float() const {
        return is_bfloat16() || (kind == 'f' && (item_bytes == 2 || item_bytes == 4 || item_bytes == 8));
    }
};

// Reads elements in the order they are stored. Every error names the array and is ErrorCode::data.
class NpyReader {
public:
    // `stored_bytes`: the length of the stream where it is known; a header that promises another length is refused.
    NpyReader(std::unique_ptr<InputStream> input, std::optional<std::int64_t> stored_bytes);

    const NpyHeader& header() const { return header_; }
    const std::string& name() const { return input_->name(); }

    void read_integers(std::span<std::int64_t> out);  // i, u, b; unsigned values of 2^63 and more are refused
    void read_doubles(std::span<double> out);         // bfloat16, f2, f4, f8, and integers
    void read_floats(std::span<float> out);           // bfloat16, f2, f4, f8
    std::string read_text();                          // a scalar S or U, ASCII
    void skip(std::int64_t elements);
    // Whether elements can be skipped without being read.
    bool seekable() const { return input_->size().has_value(); }
    void finish();  // at the end of the array: checks that nothing follows, and the checksum

    // Throws unless the array is in C order with this many dimensions.
    void expect_dimensions(std::size_t dimensions) const;
    [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;

private:
    std::string read_header_text();
    void read_exactly(std::span<char> bytes);
    template <class Stored, class Out>
    void read_as(std::span<Out> out);
    template <class Out>
    void read_any_integer(std::span<Out> out);
    template <class Out>
    void read_any_float(std::span<Out> out);

    std::unique_ptr<InputStream> input_;
    NpyHeader header_;
    std::int64_t header_bytes_ = 0;
    std::int64_t position_ = 0;  // bytes behind the header
    std::vector<char> scratch_;
};

}  // namespace gnnplan::data
