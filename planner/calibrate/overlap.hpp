// How products and messages share a processor, from products that were measured alone, with looks after messages, and
// with messages under way.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/profile.hpp>

#include <optional>
#include <span>

namespace gnnplan::calibrate {

// Fits the cost of overlap to the samples "overlap.whole", "overlap.portions", "overlap.exchange" and "overlap.both",
// each at {nonzeros, bytes, looks}, which are taken together at several ratios of messages to product. `exposed` and
// `look_seconds` minimise the squares of the relative error of
//   both = max(portions, exchange) + exposed * min(portions, exchange) + looks * look_seconds.
// Returns none where nothing was measured.
std::optional<OverlapCost> fit_overlap(std::span<const Sample> samples);

}  // namespace gnnplan::calibrate
