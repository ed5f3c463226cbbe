// What a text is that is none of the forms that are read, as far as a word of it tells, and the way out.
#pragma once

#include <string>
#include <string_view>

namespace gnnplan::data {

// For one who wrote this word where the id of a vertex belongs; "" where the word tells nothing.
std::string hint_for_no_id(std::string_view found);
// The same where any number belongs.
std::string hint_for_no_number(std::string_view found);

}  // namespace gnnplan::data
