// A sweep as JSON, schema gnnplan.sweep/1.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/sweep/sweep_break_even.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

// A sweep and what follows from it.
struct SweepAnswers {
    Sweep sweep;
    std::vector<SchemeCrossing> crossings;
    std::vector<LinkBreakEven> links;
    std::vector<std::string> sentences;  // all of them
};

io::Document encode(const Question& question, const SweepAnswers& answers, const std::string& command_line);

}  // namespace gnnplan::tools
