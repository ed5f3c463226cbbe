// Which candidates of a plan a run cannot train, in words.
#pragma once

#include "runtime/train/options.hpp"

#include <gnnplan/ir/plan.hpp>

#include <optional>
#include <string>

namespace gnnplan::tools {

// Where the run drops features and candidates rely on constant ones: which, why, what that costs, and how to keep them.
// `plan` predicts for these options.
std::optional<std::string> discard_note(const Plan& plan, const train::TrainOptions& options);

}  // namespace gnnplan::tools
