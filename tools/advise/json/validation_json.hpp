// The output of `gnnplan validate --json`: gnnplan.validation/1.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/base/error.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// The finding about a file.
struct Verdict {
    std::string file;
    std::string schema;   // "" when it has none
    std::string content;  // in words, of a checkpoint or weights
    std::string error;    // "" when it is valid
    ErrorCode code = ErrorCode::answer_no;
};

io::Document encode(const std::vector<Verdict>& verdicts);

}  // namespace gnnplan::tools
