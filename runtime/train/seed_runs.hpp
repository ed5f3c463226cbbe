// Several runs that differ in their seed, and how much their accuracies do.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::train {

// Of at least one epoch.
SeedRun seed_run(std::uint64_t seed, const std::vector<EpochRecord>& epochs);
AccuracySpreads spreads_of(std::span<const SeedRun> runs);

}  // namespace gnnplan::train
