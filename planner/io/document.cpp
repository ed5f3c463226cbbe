#include "planner/io/document.hpp"

#include <gnnplan/base/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gnnplan::io {

namespace {

constexpr std::size_t line_width = 200;  // a tensor or a step of a plan takes one line

std::string number_text(double value) {
    ensure(std::isfinite(value), "a number to be written is not finite");
    constexpr double integer_end = 9223372036854775808.0;  // 2^63
    if (std::trunc(value) == value && std::abs(value) < integer_end) {
        return std::to_string(static_cast<std::int64_t>(value));
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

std::string string_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct Style {
    int indent = 0;       // 0: one line
    bool sorted = false;  // members by key
    bool spaces = false;  // after ':' and ','
};

class Emitter {
public:
    explicit Emitter(Style style) : style_(style) {}

    std::string text(const Document& document, int level) const {
        return std::visit([&](const auto& value) { return emit(value, level); }, document.value());
    }

private:
    std::string emit(std::monostate, int) const { return "null"; }
    std::string emit(bool value, int) const { return value ? "true" : "false"; }
    std::string emit(std::int64_t value, int) const { return std::to_string(value); }
    std::string emit(std::uint64_t value, int) const { return std::to_string(value); }
    std::string emit(double value, int) const { return number_text(value); }
    std::string emit(const std::string& value, int) const { return string_text(value); }

    std::string emit(const Document::Array& array, int level) const {
        std::vector<std::string> items;
        items.reserve(array.size());
        for (const Document& element : array) items.push_back(text(element, level + 1));
        return enclose('[', items, ']', level);
    }

    std::string emit(const Document::Object& object, int level) const {
        std::vector<const Document::Member*> members;
        for (const auto& member : object) members.push_back(&member);
        if (style_.sorted)
            std::ranges::sort(
                members, {}, [](const auto* member) -> auto& { return member->first; });
        std::vector<std::string> items;
        items.reserve(members.size());
        for (const auto* member : members) {
            items.push_back(string_text(member->first) + (style_.spaces ? ": " : ":") +
                            text(member->second, level + 1));
        }
        return enclose('{', items, '}', level);
    }

    std::string enclose(char open, const std::vector<std::string>& items, char close, int level) const {
        const bool broken = style_.indent > 0 && !fits(items, level);
        std::string text(1, open);
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) text += style_.spaces && !broken ? ", " : ",";
            if (broken) start_line(text, level + 1);
            text += items[i];
        }
        if (broken) start_line(text, level);
        text += close;
        return text;
    }

    void start_line(std::string& text, int level) const {
        text += '\n';
        text.append(static_cast<std::size_t>(level) * static_cast<std::size_t>(style_.indent), ' ');
    }

    bool fits(const std::vector<std::string>& items, int level) const {
        std::size_t width = 2 + static_cast<std::size_t>(level) * static_cast<std::size_t>(style_.indent);
        for (const std::string& item : items) {
            width += item.size() + 2;
            if (width > line_width || item.find('\n') != std::string::npos) return false;
        }
        return true;
    }

    Style style_;
};

}  // namespace

Document& Document::push(Document element) {
    std::get<Array>(value_).push_back(std::move(element));
    return *this;
}

Document& Document::set(std::string_view key, Document value) {
    if (Document* member = find(key)) {
        *member = std::move(value);
    } else {
        std::get<Object>(value_).emplace_back(std::string(key), std::move(value));
    }
    return *this;
}

void Document::append(std::string key, Document value) {
    std::get<Object>(value_).emplace_back(std::move(key), std::move(value));
}

const Document* Document::find(std::string_view key) const {
    const auto* object = get_if<Object>();
    if (object == nullptr) return nullptr;
    const auto member = std::ranges::find(*object, key, &Member::first);
    return member == object->end() ? nullptr : &member->second;
}

Document* Document::find(std::string_view key) { return const_cast<Document*>(std::as_const(*this).find(key)); }

void Document::erase(std::string_view key) {
    std::erase_if(std::get<Object>(value_), [&](const Member& member) { return member.first == key; });
}

std::string dump(const Document& document, int indent) {
    return Emitter({.indent = indent, .sorted = false, .spaces = true}).text(document, 0);
}

std::string canonical(const Document& document) {
    return Emitter({.indent = 0, .sorted = true, .spaces = false}).text(document, 0);
}

}  // namespace gnnplan::io
