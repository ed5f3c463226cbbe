#include "runtime/read/npy_header.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <bit>
#include <charconv>

namespace gnnplan::data {
namespace {

static_assert(std::endian::native == std::endian::little, "only big endian arrays are turned round");

class HeaderParser {
public:
    HeaderParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

    NpyHeader parse() {
        NpyHeader header;
        bool seen[3] = {false, false, false};
        expect('{');
        while (!accept('}')) {
            const std::string_view key = quoted();
            expect(':');
            if (key == "descr" && !seen[0]) {
                seen[0] = true;
                type(header);
            } else if (key == "fortran_order" && !seen[1]) {
                seen[1] = true;
                header.fortran_order = boolean();
            } else if (key == "shape" && !seen[2]) {
                seen[2] = true;
                shape(header);
            } else {
                fail("unexpected key '" + std::string(key.substr(0, 32)) + "'");
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (!seen[0] || !seen[1] || !seen[2]) fail("a key is missing");
        return header;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ErrorCode::data, "malformed .npy header: " + what, name_);
    }

    void skip_space() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
    }

    bool accept(char c) {
        skip_space();
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) {
        if (!accept(c)) fail(std::string("'") + c + "' expected");
    }

    std::string_view quoted() {
        skip_space();
        if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) fail("a quoted name expected");
        const std::size_t close = rest_.find(rest_[0], 1);
        if (close == std::string_view::npos) fail("a quote is not closed");
        const std::string_view text = rest_.substr(1, close - 1);
        rest_.remove_prefix(close + 1);
        return text;
    }

    bool boolean() {
        skip_space();
        const bool value = rest_.starts_with("True");
        if (!value && !rest_.starts_with("False")) fail("True or False expected");
        rest_.remove_prefix(value ? 4 : 5);
        return value;
    }

    void type(NpyHeader& header) {
        skip_space();
        if (!rest_.empty() && rest_[0] == '[') {
            throw Error(ErrorCode::data, "is a structured array", name_, "save one plain numeric array per name");
        }
        const std::string_view text = quoted();
        if (text.size() >= 2 && text[1] == 'O') {
            throw Error(ErrorCode::data, "is an object array, that is a Python pickle, which is never loaded", name_,
                        "convert it in Python first, e.g. np.savez_compressed(path, x=x.astype(np.float32))");
        }
        int bytes = 0;
        if (text.size() >= 3) std::from_chars(text.data() + 2, text.data() + text.size(), bytes);
        // NumPy knows no bfloat16: ml_dtypes, which JAX and others use, stores it as two bytes of no type.
        const bool bfloat16 = text.size() == 3 && text[1] == 'V' && bytes == 2;
        const bool known =
            bfloat16 || (text.size() >= 3 && std::string_view("iufbSU").find(text[1]) != std::string_view::npos);
        if (!known || bytes < 1 || bytes > 4096) fail("unknown type '" + std::string(text.substr(0, 32)) + "'");
        header.big_endian = text[0] == '>';
        header.kind = text[1];
        header.item_bytes = header.kind == 'U' ? 4 * bytes : bytes;
    }

    void shape(NpyHeader& header) {
        expect('(');
        while (!accept(')')) {
            skip_space();
            std::int64_t size = -1;
            const auto [stop, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
            if (status != std::errc() || size < 0) fail("the shape is not a tuple of sizes");
            if (header.shape.size() == 8) fail("more than 8 dimensions");
            rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
            header.shape.push_back(size);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
    }

    std::string_view rest_;
    const std::string& name_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& name) {
    NpyHeader header = HeaderParser(text, name).parse();
    std::int64_t bytes = header.item_bytes;
    for (const std::int64_t size : header.shape) {
        if (__builtin_mul_overflow(bytes, size, &bytes)) {
            throw Error(ErrorCode::data, "the header promises an array of 2^63 bytes or more", name);
        }
    }
    return header;
}

std::int64_t NpyHeader::count() const {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count = checked_multiply(count, size);
    return count;
}

std::string NpyHeader::describe() const {
    std::string text;
    switch (kind) {
        case 'i': text = "int"; break;
        case 'u': text = "uint"; break;
        case 'f': text = "float"; break;
        case 'b': text = "bool"; break;
        case 'V': text = "bfloat16"; break;
        default: text = "text"; break;
    }
    if (kind == 'i' || kind == 'u' || kind == 'f') text += std::to_string(8 * item_bytes);
    text += " [";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

}  // namespace gnnplan::data
