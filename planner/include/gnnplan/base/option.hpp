// How messages of the library name options. The library knows no command line: a message has the id of an option in
// backquotes, with the value that is meant, if one is, and nothing else in backquotes. "use `task infer`" is said as
// "use --task infer" by the tools, and by a binding as it writes arguments.
//
// `plan/graph` is the option `graph` of another question than the one that was asked, `plan/` that question itself.
#pragma once

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace gnnplan {

// "`forward SDS`", for values that are made when the message is.
inline std::string option_text(std::string_view id, std::string_view value) {
    return "`" + std::string(id) + " " + std::string(value) + "`";
}

// An option that a message names. All are parts of the message.
struct NamedOption {
    std::string_view text;      // with its backquotes
    std::string_view question;  // "plan" of `plan/graph`; empty: the question that the message answers
    std::string_view id;        // "graph"; empty: the question as a whole
    std::string_view value;     // "infer" of `task infer`; empty: none
};

// Reads what stands between two backquotes. Nothing if it has not the form of an option: an id consists of small
// letters, digits and hyphens, and begins with a letter.
inline std::optional<NamedOption> read_option(std::string_view text) {
    const auto is_word = [](std::string_view word) {
        const auto in_words = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
        return !word.empty() && word.front() >= 'a' && word.front() <= 'z' && std::ranges::all_of(word, in_words);
    };
    const std::string_view inner = text.substr(1, text.size() - 2);
    const std::string_view name = inner.substr(0, inner.find(' '));
    const std::size_t slash = name.find('/');
    NamedOption option{text, {}, name, inner.substr(std::min(inner.size(), name.size() + 1))};
    if (slash != std::string_view::npos) {
        option.question = name.substr(0, slash);
        option.id = name.substr(slash + 1);
    }
    const bool whole = option.question.empty() ? is_word(option.id) : option.id.empty() || is_word(option.id);
    const bool reads = whole && (slash == std::string_view::npos || is_word(option.question));
    return reads ? std::optional(option) : std::nullopt;
}

// The first option that what is `said` names. Names of files that a message quotes may have backquotes, too: those of
// an option follow a blank or a bracket, if anything, and no letter follows them.
inline std::optional<NamedOption> first_option(std::string_view said) {
    constexpr std::string_view before = " (";
    constexpr std::string_view after = " ,;:.)\n";
    for (std::size_t begin = said.find('`'); begin != std::string_view::npos; begin = said.find('`', begin + 1)) {
        const std::size_t end = said.find('`', begin + 1);
        if (end == std::string_view::npos) break;
        if (begin > 0 && before.find(said[begin - 1]) == std::string_view::npos) continue;
        if (end + 1 < said.size() && after.find(said[end + 1]) == std::string_view::npos) continue;
        if (const auto option = read_option(said.substr(begin, end + 1 - begin))) return option;
    }
    return std::nullopt;
}

// The option that is at fault, which the error names as the place: "ring". Nothing if the place is no option. The id
// lives as long as the error.
inline std::optional<std::string_view> option_of(const Error& error) {
    const std::optional<NamedOption> option = first_option(error.where());
    if (!option || !error.where().starts_with('`')) return std::nullopt;
    return option->id;
}

}  // namespace gnnplan
