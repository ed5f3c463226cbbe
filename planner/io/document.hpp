// A JSON value tree that knows nothing of what it holds. The tools build their `--json` output with it; the codecs of
// this folder read and write the project's files through it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gnnplan::io {

// null, bool, integer (64-bit, signed or unsigned), double, string, array, or object with its members in insertion
// order.
class Document {
public:
    using Array = std::vector<Document>;
    using Member = std::pair<std::string, Document>;
    using Object = std::vector<Member>;
    using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

    Document() = default;  // null
    template <std::integral T>
    Document(T value) {
        if constexpr (std::same_as<T, bool>) {
            value_ = value;
        } else if (std::in_range<std::int64_t>(value)) {
            value_ = static_cast<std::int64_t>(value);
        } else {
            value_ = static_cast<std::uint64_t>(value);
        }
    }
    Document(double value) : value_(value) {}
    Document(const char* text) : value_(std::string(text)) {}
    Document(std::string text) : value_(std::move(text)) {}
    Document(std::string_view text) : value_(std::string(text)) {}
    // Arrays of anything a Document can be made of.
    template <class T>
    Document(const std::vector<T>& values) : value_(Array(values.begin(), values.end())) {}

    static Document array() { return Document(Value(Array{})); }
    static Document object(std::initializer_list<Member> members = {}) { return Document(Value(Object(members))); }

    const Value& value() const { return value_; }
    template <class T>
    const T* get_if() const {
        return std::get_if<T>(&value_);
    }

    // Appends to an array.
    Document& push(Document element);
    // Replaces or appends a member of an object; returns the object, so that calls chain.
    Document& set(std::string_view key, Document value);
    // Appends a member without looking for its key, which the object must not have yet.
    void append(std::string key, Document value);
    // The member of an object, or nullptr; nullptr as well when this is no object.
    const Document* find(std::string_view key) const;
    Document* find(std::string_view key);
    // Removes the member of an object if it is there.
    void erase(std::string_view key);

private:
    explicit Document(Value value) : value_(std::move(value)) {}
    Value value_;
};

// JSON text, without a final newline. indent 0: on one line; else containers that do not fit a line are broken,
// `indent` blanks per level. Whole doubles are written as integers (512, not 512.0), others with the fewest digits that
// read back to the same value; bytes that are not UTF-8 become U+FFFD. Throws Error{internal} on NaN and infinity.
std::string dump(const Document& document, int indent = 0);

// The same value always gives the same text: one line, members sorted by key. Fingerprints are taken of this text.
std::string canonical(const Document& document);

}  // namespace gnnplan::io
