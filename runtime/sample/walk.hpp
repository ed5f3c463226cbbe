// The way of a run through a pool: all batches in a drawn order, then all of them in another one. Without a pool, which
// has no batches then, one number after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace gnnplan::sample {

class Walk {
public:
    Walk(std::int64_t batches, std::uint64_t seed) : batches_(batches), seed_(seed) {}

    // The batches of update `update`, from 0 on, which has so many. A function of these and of the seed alone.
    std::vector<std::int64_t> of_update(std::int64_t update, int per_update);

private:
    void draw_order(std::int64_t round);

    std::int64_t batches_;
    std::uint64_t seed_;
    std::int64_t round_ = -1;  // that order_ is of
    std::vector<std::int64_t> order_;
};

}  // namespace gnnplan::sample
