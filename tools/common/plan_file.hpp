// Plans as files that a tool is about to use.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>
#include <string_view>

namespace gnnplan::tools {

// Throws what io::read_file, io::read_plan, check_predicted_bytes and check_lowering throw.
Plan read_plan_file(const std::string& path);
Plan read_plan_text(std::string_view text, const std::string& path);

// That every schedule is what lowering makes of its configuration: a schedule can be well formed and still leave an
// update out, or train another model. Throws Error{data} that names the first step or tensor that is otherwise.
void check_lowering(Plan& plan);

// Plans of version 1 do not say where their steps come from. Lowering does, as long as it makes the same steps.
void add_origins(Plan& plan);

}  // namespace gnnplan::tools
