// A sample of many configurations is run when there is no time for all.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::bench {

struct Predicted {
    double seconds = 0;  // of an epoch, positive
    std::string kind;    // configurations of different kinds differ in more than orders
};

// Positions of at most `most` of `by_time`, which is sorted by seconds, among those that `fits` allows; 0: all of them.
// The fastest is always there. A third are the fastest of as many kinds, which is what a planner may confuse; the rest
// is spread evenly over the logarithm of the seconds. The same arguments give the same positions, in increasing order.
std::vector<std::size_t> choose_sample(const std::vector<Predicted>& by_time, std::size_t most,
                                       const std::function<bool(std::size_t)>& fits);

}  // namespace gnnplan::bench
