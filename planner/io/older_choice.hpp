// Choices of alternatives as plans of versions 1 to 3 name them: a sentence each.
#pragma once

#include <gnnplan/ir/choice.hpp>

#include <string>

namespace gnnplan::io {

// "forward 2..9 D" -> {"forward", "D", {2, 9}}. A sentence that no version wrote becomes the key.
Choice choice_of(const std::string& sentence);

}  // namespace gnnplan::io
