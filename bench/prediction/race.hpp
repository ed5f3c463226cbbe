// Runs configurations against each other.
#pragma once

#include "bench/prediction/interval.hpp"
#include "planner/search/costed.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace gnnplan::bench {

struct RaceOptions {
    double narrow = 0.03;  // the rounds end when every interval is this share of its median or less
    double seconds = 0;    // they end, too, after about so much time in all, but not before the third
    Normalisation normalisation = Normalisation::symmetric;
    std::int64_t resident_bytes = 0;  // a rank holds as many configurations at once as fit in here, at least one
    std::function<void(std::size_t done)> progress;
};

// The seconds of an epoch are the largest over the ranks.
struct Outcome {
    double seconds = 0;               // of an epoch: median over the turns of their medians
    Interval interval;                // of that median
    double fastest = 0, slowest = 0;  // epoch
    std::size_t epochs = 0;           // timed
    std::size_t turns = 0;
    std::vector<double> step_seconds;  // by step of the schedule, as they move the latest rank on; 0 outside the epoch
};

// Collective; the outcomes in the order of `field`, the same on every rank. One thread a rank.
//
// As many configurations as fit in memory are built, each is warmed up, and then they take turns: in each round each
// runs one timed epoch, short ones several. A machine that drifts so favours none of them; those that share memory are
// drawn at random for the same reason, and all of them go on while one interval is still wide. Turns and not epochs are
// what intervals count, because epochs in a row are disturbed together. Epochs short enough to live in caches are run
// once untimed in each turn, because others have just been there.
std::vector<Outcome> race(comm::Communicator& comm, const data::Dataset& dataset, search::NumberedGraphs& graphs,
                          const std::vector<Candidate>& field, const RaceOptions& options);

}  // namespace gnnplan::bench
