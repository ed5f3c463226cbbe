// The note on dropout: the run takes over the plan's, or the plan was made for another one.
#pragma once

#include "tools/gnnrun/flags.hpp"

#include <gnnplan/ir/plan.hpp>

#include <optional>
#include <string>

namespace gnnplan::tools {

// The change, and how to ask for the other dropout; nothing where neither drops anything, or the flags ask for what the
// plan was made for. `plan` predicts for these options. Throws what deploy::usable_candidates throws.
std::optional<std::string> dropout_note(const Plan& plan, const RunFlags& flags, const train::TrainOptions& options);

}  // namespace gnnplan::tools
