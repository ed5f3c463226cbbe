// Time of local work at a machine's rates.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/work.hpp>

#include <cstdint>

namespace gnnplan::cost {

// Seconds of everything in `work`: sparse operations at the single rate of their width, the rest at the rates that were
// calibrated for its shape and kind, or at the single ones where none were.
double compute_seconds(const RankWork& work, const Machine& machine);

struct SparseSeconds {
    double gathering = 0;  // rows of the dense operand
    double other = 0;      // rows of the result, and copies that are made of panels
    double total() const { return gathering + other; }
};
// Seconds of a product that comes back to `width` columns of its dense operand so: each reuse at the cost of its
// distance times 4 * width bytes; each row of the result at the cost of a row, and in each panel behind the first at
// that of one more if the panel has something for it, else at the cost of passing it. Indices, values and results that
// pass through the caches between two uses widen the distance, by as much as they exceed those of uniformly random
// columns, which the measured curve has in it. First uses come from the far half of what the piece uses in all: on
// average that is what they do in the matrices that were measured, and in an epoch the operand has just been written or
// received. There is a calibration, and its gather is not empty.
SparseSeconds sparse_seconds(const SpmmReuse& reuse, std::int64_t width, const Machine& machine);

}  // namespace gnnplan::cost
