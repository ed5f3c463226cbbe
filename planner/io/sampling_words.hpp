// Batches in words, as `gnnplan plan` is told them: what runs that go on, and comparisons, hold beside each other.
#pragma once

#include <gnnplan/ir/sampling.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::io {

// Names, all of which begin with "the batches'", and values; without batches, that there is no sampler.
std::vector<std::pair<std::string, std::string>> words_of(const std::optional<Batches>& batches);

}  // namespace gnnplan::io
