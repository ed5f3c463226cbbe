// Whether a text is well-formed XML, as far as our pictures use it: no CDATA, comments or processing instructions.
#pragma once

#include <string>

namespace gnnplan::testing {

// "" when every element is closed in order, every attribute quoted and every & an entity; else what is wrong.
std::string xml_error(const std::string& text);

}  // namespace gnnplan::testing
