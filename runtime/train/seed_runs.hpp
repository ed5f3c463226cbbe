// Several runs that differ in their seed, and how much their scores do.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gnnplan::train {

// How good an epoch's validation is, the higher the better; unset: there was none.
std::optional<double> goodness(const EpochRecord& epoch, BestBy by);
// Judges a run of at least one epoch.
SeedRun seed_run(std::uint64_t seed, const std::vector<EpochRecord>& epochs, BestBy by);
std::array<Spreads, metrics.size()> spreads_of(std::span<const SeedRun> runs);

}  // namespace gnnplan::train
