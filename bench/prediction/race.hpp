// Runs configurations against each other.
#pragma once

#include "planner/search/space.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace gnnplan::bench {

struct RaceOptions {
    int rounds = 3;
    std::int64_t resident_bytes = 0;  // a rank holds as many configurations at once as fit in here, at least one
    std::function<void(std::size_t done)> progress;
};

struct Outcome {
    double seconds = 0;                // of an epoch: median of the largest over ranks
    double fastest = 0, slowest = 0;   // epoch
    std::size_t epochs = 0;            // timed
    std::vector<double> step_seconds;  // by step of the schedule, as they move the latest rank on; 0 outside the epoch
};

// Collective; the outcomes in the order of `field`, the same on every rank. One thread a rank.
//
// As many configurations as fit in memory are built, each is warmed up, and then they take turns: in each round each
// runs one timed epoch, short ones several. A machine that drifts so favours none of them; those that share memory are
// drawn at random for the same reason. Epochs short enough to live in caches are run once untimed in each turn, because
// others have just been there.
std::vector<Outcome> race(comm::Communicator& comm, const data::Dataset& dataset, search::NumberedGraphs& graphs,
                          const std::vector<Candidate>& field, const RaceOptions& options);

}  // namespace gnnplan::bench
