// Measured machine profiles: a machine's file, schema gnnplan.machine/1, with where and how it was measured
// (docs/plan-format.md).
#pragma once

#include <gnnplan/ir/profile.hpp>

#include <string>
#include <string_view>

namespace gnnplan::io {

std::string write_profile(const Profile& profile);

// Reads and validates; a bare machine is a profile without fingerprint and samples. Throws Error{data} like read_plan.
Profile read_profile(std::string_view text, const std::string& where);

}  // namespace gnnplan::io
