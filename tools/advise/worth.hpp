// The worth of each choice of a plan, in words.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// The choices of the other configuration that the chosen one has not: "grid 2x4, backward DS, rows, not permuted"; ""
// when they are the same choice to a reader.
std::string difference_text(const Configuration& chosen, const Configuration& other);

// The alternatives of the plan, a line each: what is chosen, what instead, what that costs and whether it is a tie.
std::string worth_text(const Plan& plan, bool color);

// An alternative in words: what is chosen, what instead, how long that takes and whether it is a tie or over memory.
struct ChoiceWords {
    std::string chosen, instead, verdict;
    std::string details;  // all that differs, where the other words do not say it; else ""
};
ChoiceWords choice_words(const Plan& plan, const Alternative& alternative);

// The same as JSON: "choice", "pinned", "configuration", "predicted", "more_seconds", "ratio", "tie", "fits".
io::Document encode_alternatives(const Plan& plan);

}  // namespace gnnplan::tools
