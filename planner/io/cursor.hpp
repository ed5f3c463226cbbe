// A value of a parsed document and its path, for readers that name exactly what is wrong.
#pragma once

#include "planner/io/document.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::io {

// Every accessor throws Error{data} whose `where` is "FILE: path.to[3].key", with long keys cut. A cursor refers to the
// document, which must outlive it.
class Cursor {
public:
    Cursor(const Document& value, std::string where) : value_(&value), where_(std::move(where)) {}

    [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;

    bool is_null() const { return value_->get_if<std::monostate>() != nullptr; }
    bool boolean() const;
    std::int64_t integer(std::int64_t min, std::int64_t max) const;
    std::uint64_t unsigned_integer() const;
    double number(double min = 0, double max = std::numeric_limits<double>::max()) const;
    const std::string& string() const;
    std::vector<Cursor> elements(std::size_t max_count) const;

    // The member `key` of an object; it must be there.
    Cursor member(std::string_view key) const;
    // All members of an object, in their order.
    std::vector<std::pair<std::string_view, Cursor>> members() const;
    // Fails on a member whose key is not listed.
    void only(const std::vector<std::string_view>& keys) const;

    const Document& document() const { return *value_; }
    const std::string& file() const { return where_; }

private:
    Cursor of_member(std::string_view key, const Document& value) const;
    const Document::Object& object() const;

    const Document* value_;
    std::string where_;      // the file
    std::string path_ = {};  // within it
};

}  // namespace gnnplan::io
