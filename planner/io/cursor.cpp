#include "planner/io/cursor.hpp"

#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::io {
namespace {

constexpr std::size_t longest_text = std::size_t{1} << 16U;

}  // namespace

void Cursor::fail(const std::string& what, const std::string& hint) const {
    throw Error(ErrorCode::data, what, where_ + (path_.empty() ? "" : ": " + path_), hint);
}

bool Cursor::boolean() const {
    const bool* value = value_->get_if<bool>();
    if (value == nullptr) fail("expected true or false");
    return *value;
}

std::int64_t Cursor::integer(std::int64_t min, std::int64_t max) const {
    const auto* value = value_->get_if<std::int64_t>();
    if (value == nullptr || *value < min || *value > max) {
        fail("expected an integer from " + std::to_string(min) + " to " + std::to_string(max));
    }
    return *value;
}

std::uint64_t Cursor::unsigned_integer() const {
    if (const auto* large = value_->get_if<std::uint64_t>()) return *large;
    const auto* value = value_->get_if<std::int64_t>();
    if (value == nullptr || *value < 0) fail("expected an integer from 0 to 18446744073709551615");
    return static_cast<std::uint64_t>(*value);
}

double Cursor::number(double min, double max) const {
    double value = 0;
    if (const auto* integer = value_->get_if<std::int64_t>()) {
        value = static_cast<double>(*integer);
    } else if (const auto* large = value_->get_if<std::uint64_t>()) {
        value = static_cast<double>(*large);
    } else if (const auto* real = value_->get_if<double>()) {
        value = *real;
    } else {
        fail("expected a number");
    }
    if (value < min || value > max) fail("expected a number from " + dump(min) + " to " + dump(max));
    return value;
}

const std::string& Cursor::string() const {
    const auto* value = value_->get_if<std::string>();
    if (value == nullptr) fail("expected a string");
    if (value->size() > longest_text) fail("a text of more than 64 KiB");
    if (printable(*value) != *value) fail("control characters in " + in_quotes(*value));
    return *value;
}

std::vector<Cursor> Cursor::elements(std::size_t max_count) const {
    const auto* array = value_->get_if<Document::Array>();
    if (array == nullptr) fail("expected an array");
    if (array->size() > max_count) fail("expected an array of at most " + std::to_string(max_count) + " elements");
    std::vector<Cursor> cursors;
    cursors.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
        cursors.emplace_back((*array)[i], where_);
        cursors.back().path_ = path_ + "[" + std::to_string(i) + "]";
    }
    return cursors;
}

Cursor Cursor::member(std::string_view key) const {
    object();
    const Document* value = value_->find(key);
    if (value == nullptr) fail("missing key " + in_quotes(key));
    return of_member(key, *value);
}

std::vector<std::pair<std::string_view, Cursor>> Cursor::members() const {
    std::vector<std::pair<std::string_view, Cursor>> all;
    all.reserve(object().size());
    for (const auto& [key, value] : object()) all.emplace_back(key, of_member(key, value));
    return all;
}

void Cursor::only(const std::vector<std::string_view>& keys) const {
    for (const auto& [key, value] : object()) {
        if (std::ranges::find(keys, key) == keys.end()) {
            fail("unknown key " + in_quotes(key), "the file may be of a newer version of gnnplan");
        }
    }
}

Cursor Cursor::of_member(std::string_view key, const Document& value) const {
    Cursor cursor(value, where_);
    cursor.path_ = path_ + (path_.empty() ? "" : ".") + key_text(key);
    return cursor;
}

const Document::Object& Cursor::object() const {
    const auto* members = value_->get_if<Document::Object>();
    if (members == nullptr) fail("expected an object");
    return *members;
}

}  // namespace gnnplan::io
