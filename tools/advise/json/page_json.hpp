// The data of the page that `gnnplan report` writes: gnnplan.page/1.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gnnplan::tools {

// A plan with its file's text, and a run of it where there is one.
struct PageQuestion {
    const Plan& plan;
    std::string_view plan_text;
    const RunReport* run = nullptr;
    std::string command_line;  // that makes the page
};

// "Training gcn 602-128-41 on reddit, 8 ranks of a6000x8".
std::string page_title(const Plan& plan);

// Throws Error{mismatch} where the run is of another plan, Error{data} where it has no steps.
io::Document page_document(const PageQuestion& question);

}  // namespace gnnplan::tools
