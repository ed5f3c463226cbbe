// Hints for texts of a form that is not read: which form it is, as far as one word of it tells, and how to convert it.
#pragma once

#include <string>
#include <string_view>

namespace gnnplan::data {

// The hint for a file that has this word where the id of a vertex belongs; "" where the word tells nothing.
std::string hint_for_no_id(std::string_view found);
// The same for a word where any number belongs.
std::string hint_for_no_number(std::string_view found);

// The text with its capitals of ASCII made small.
std::string in_small_letters(std::string_view text);

}  // namespace gnnplan::data
