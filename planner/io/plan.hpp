// Plan files, schema gnnplan.plan/4; versions 1 to 3 are read, too: docs/plan-format.md.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <array>
#include <string>
#include <string_view>

namespace gnnplan::io {

inline constexpr std::string_view plan_schema = "gnnplan.plan/4";
// Versions 1 to 3 have sentences in place of choices, versions 1 and 2 lack spaces and parameters, version 1 also where
// steps come from.
inline constexpr std::array<std::string_view, 3> older_plan_schemas = {"gnnplan.plan/3", "gnnplan.plan/2",
                                                                       "gnnplan.plan/1"};

// The text of a plan with at least one candidate. The machine and content fingerprints are computed, whatever the plan
// says.
std::string write_plan(const Plan& plan);

// Reads and validates a plan from a stranger. Throws Error{data} whose `where` is `where`, the name of the file, and
// the path of the key: another schema or version, a key that is unknown, missing, twice there, of the wrong type or out
// of range, a file altered after it was written, and whatever gnnplan::validate refuses.
Plan read_plan(std::string_view text, const std::string& where);

}  // namespace gnnplan::io
