// JSON text to a Document, for files that may come from strangers.
#pragma once

#include "planner/io/document.hpp"

#include <string>
#include <string_view>

namespace gnnplan::io {

// Limits that no file of ours comes near; a file beyond is refused before it costs memory.
struct ParseLimits {
    int depth = 32;                  // nested arrays and objects
    std::size_t members = 256;       // of one object
    std::size_t values = 1U << 22U;  // in the whole file
};

// Throws Error{data}: text that is not JSON (with line and column), a number beyond double, a key twice in one object,
// or more than the limits allow. `where` names the text in messages.
Document parse(std::string_view text, const std::string& where, const ParseLimits& limits = {});

// `text` with a question mark in place of each control character, C1's in UTF-8 included: terminals obey these.
std::string printable(std::string_view text);
// The kind of a file that is no text, by its first bytes: "an .npy array". Empty: nothing is known.
std::string binary_kind(std::string_view file);

// `text` quoted and escaped for a message, cut if it is long.
std::string in_quotes(std::string_view text);

// Cuts the middle out of a message that is too long to read because it quotes texts of files.
std::string shortened(std::string_view text);

// A key as a part of a path: unchanged, or in_quotes() if it is long or has control characters.
std::string key_text(std::string_view key);

}  // namespace gnnplan::io
