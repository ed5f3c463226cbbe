// One list of keys per struct, read in both directions: `describe(archive, value)` names each field once; a Writer
// turns the value into a Document, a Reader fills the value from one and refuses what is missing, unknown or out of
// range.
#pragma once

#include "planner/io/cursor.hpp"
#include "planner/io/enum_names.hpp"
#include "planner/io/holds_something.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnnplan::io {

// The largest numbers in a file, unless said otherwise. Products of two of them fit where they are formed.
inline constexpr std::int64_t max_int = 1 << 20;                   // `int` fields: ranks, layers, threads
inline constexpr std::int64_t max_bytes = std::int64_t{1} << 62;   // `int64_t` fields
inline constexpr std::int64_t max_extent = std::int64_t{1} << 42;  // vertices, rows, widths
inline constexpr std::size_t max_array = std::size_t{1} << 20;

// `T&` of a Reader, `const T&` of a Writer.
template <class Archive, class T>
using Subject = std::conditional_t<Archive::reading, T, const T>;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
Document encode(const T& value);
template <class T>
T decode(const Cursor& cursor);

class Writer {
public:
    static constexpr bool reading = false;

    template <class T>
    void field(const char* key, const T& value) {
        object_.set(key, encode(value));
    }
    template <class T>
    void positive(const char* key, const T& value) {
        field(key, value);
    }
    void extent(const char* key, std::int64_t value) { field(key, value); }
    void any_number(const char* key, double value) { field(key, value); }
    void optional_any_number(const char* key, double value) { optional(key, value); }
    void optional_count(const char* key, const auto& value, int /*least*/) { optional(key, value); }
    // A vector, std::optional, bool or number that has no key when it holds nothing, which a 0 does not.
    template <class T>
    void optional(const char* key, const T& value) {
        if (holds_something(value)) field(key, value);
    }
    // A value that follows from other fields, for people and scripts.
    template <class Value>
    void derived(const char* key, const Value& value) {
        field(key, value());
    }
    void finite_or_null(const char* key, double value) {
        object_.set(key, std::isfinite(value) ? Document(value) : Document());
    }
    // A nested object whose members are fields of the same struct: `members(archive)` lists them.
    template <class Members>
    void group(const char* key, const Members& members) {
        Writer inner;
        members(inner);
        object_.set(key, inner.take());
    }
    Document take() { return std::move(object_); }

private:
    Document object_ = Document::object();
};

class Reader {
public:
    static constexpr bool reading = true;

    explicit Reader(Cursor cursor) : cursor_(std::move(cursor)) {}

    template <class T>
    void field(const char* key, T& value) {
        value = decode<T>(member(key));
    }
    // Negative ones, too.
    void any_number(const char* key, double& value) {
        value = member(key).number(std::numeric_limits<double>::lowest());
    }
    bool has(const char* key) const { return cursor_.document().find(key) != nullptr; }
    void optional_any_number(const char* key, double& value) {
        if (has(key)) any_number(key, value);
    }
    // An int may be as little as `least`.
    template <class T>
    void optional_count(const char* key, T& value, int least) {
        if constexpr (std::is_same_v<T, int>) {
            if (has(key)) value = static_cast<int>(member(key).integer(least, max_int));
        } else {
            optional(key, value);
        }
    }
    // An integer from 1.
    template <class T>
    void positive(const char* key, T& value) {
        value = static_cast<T>(member(key).integer(1, std::is_same_v<T, int> ? max_int : max_bytes));
    }
    // A number of rows, columns, vertices or nonzeros.
    void extent(const char* key, std::int64_t& value) { value = member(key).integer(0, max_extent); }
    template <class T>
    void optional(const char* key, T& value) {
        if (has(key)) field(key, value);
    }
    // Compared once all other fields are there.
    template <class Value>
    void derived(const char* key, const Value& value) {
        derived_.push_back([found = member(key), value] {
            const auto expected = value();
            if (decode<std::remove_const_t<decltype(expected)>>(found) != expected)
                found.fail("does not follow from the other keys, which give " + dump(encode(expected)));
        });
    }
    // Any number; JSON has no NaN, null stands for it.
    void finite_or_null(const char* key, double& value) {
        using Limits = std::numeric_limits<double>;
        const Cursor number = member(key);
        value = number.is_null() ? Limits::quiet_NaN() : number.number(Limits::lowest(), Limits::max());
    }
    template <class Members>
    void group(const char* key, const Members& members) {
        Reader inner(member(key));
        members(inner);
        inner.finish();
    }
    // The member, marked as known.
    Cursor member(const char* key) {
        keys_.emplace_back(key);
        return cursor_.member(key);
    }
    // To be called after the last field: fails on unknown keys, and on derived ones that do not fit the others.
    void finish() const {
        cursor_.only(keys_);
        for (const auto& compare : derived_) compare();
    }

private:
    Cursor cursor_;
    std::vector<std::string_view> keys_;
    std::vector<std::function<void()>> derived_;
};

Document encode_grid(const Grid& grid);  // [x, y, z]
Grid decode_grid(const Cursor& cursor);
Orders decode_orders(const Cursor& cursor);
OperandChoice decode_operands(const Cursor& cursor);
Axes decode_axes(const Cursor& cursor);

template <class T>
Document encode(const T& value) {
    if constexpr (std::is_same_v<T, Grid>) {
        return encode_grid(value);
    } else if constexpr (std::is_same_v<T, Orders> || std::is_same_v<T, OperandChoice>) {
        return text(value);
    } else if constexpr (std::is_same_v<T, Axes>) {
        return value.text();
    } else if constexpr (std::is_enum_v<T>) {
        return name_of(value);
    } else if constexpr (IsVector<T>::value) {
        Document array = Document::array();
        for (const auto& element : value) array.push(encode(element));
        return array;
    } else if constexpr (IsOptional<T>::value) {
        return value ? encode(*value) : Document();
    } else if constexpr (std::is_constructible_v<Document, T>) {
        return Document(value);
    } else {
        Writer writer;
        describe(writer, value);
        return writer.take();
    }
}

template <class E>
E decode_enum(const Cursor& cursor) {
    std::string known;
    for (std::size_t i = 0; i < EnumNames<E>::names.size(); ++i) {
        if (cursor.string() == EnumNames<E>::names[i]) return static_cast<E>(i);
        known += (known.empty() ? "" : ", ") + std::string(EnumNames<E>::names[i]);
    }
    cursor.fail("expected one of " + known);
}

template <class T>
T decode(const Cursor& cursor) {
    if constexpr (std::is_same_v<T, bool>) {
        return cursor.boolean();
    } else if constexpr (std::is_same_v<T, int>) {
        return static_cast<int>(cursor.integer(0, max_int));
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return cursor.integer(0, max_bytes);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return cursor.unsigned_integer();
    } else if constexpr (std::is_same_v<T, double>) {
        return cursor.number();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return cursor.string();
    } else if constexpr (std::is_same_v<T, Grid>) {
        return decode_grid(cursor);
    } else if constexpr (std::is_same_v<T, Orders>) {
        return decode_orders(cursor);
    } else if constexpr (std::is_same_v<T, OperandChoice>) {
        return decode_operands(cursor);
    } else if constexpr (std::is_same_v<T, Axes>) {
        return decode_axes(cursor);
    } else if constexpr (std::is_enum_v<T>) {
        return decode_enum<T>(cursor);
    } else if constexpr (IsVector<T>::value) {
        T values;
        for (const Cursor& element : cursor.elements(max_array))
            values.push_back(decode<typename T::value_type>(element));
        return values;
    } else if constexpr (IsOptional<T>::value) {
        return cursor.is_null() ? T() : T(decode<typename T::value_type>(cursor));
    } else {
        T value{};
        Reader reader(cursor);
        describe(reader, value);
        reader.finish();
        return value;
    }
}

}  // namespace gnnplan::io
