// Samplers of batches, as users write them.
#pragma once

#include <gnnplan/ir/sampling.hpp>

#include <string>

namespace gnnplan::tools {

// node:B, edge:B, walk:R:H or cluster:Q:M; the rest is what it is by default. Throws Error{usage} at `where`.
Sampling parse_sampler(const std::string& text, const std::string& where);

}  // namespace gnnplan::tools
