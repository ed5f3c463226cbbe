// Variations as they are written, and what they make of a question.
#pragma once

#include "tools/advise/sweep/sweep_question.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gnnplan::tools {

// "ranks=2,4,8". Throws Error{usage} that says which names and values there are.
Variation parse_variation(const std::string& text);
// Throws Error{usage} where one name varies twice.
void check_varied_once(const std::vector<Variation>& variations);
// The names of --vary.
std::vector<std::string> variation_names();

// The question with the settings `at`; its `loaded` is still that of `question`. What a setting rests on is set before
// it, whatever the order of the variations, as a machine before its bandwidth. What a case means (Setting::means) is
// said by other variations, where they say it.
Question with_settings(Question question, const std::vector<Variation>& variations, const std::vector<std::size_t>& at);

}  // namespace gnnplan::tools
