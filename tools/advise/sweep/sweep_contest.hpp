// Points of a sweep compete if they solve the same problem on the same machine in several ways.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The points of one problem, all competitors, in the order of Race::competitors.
struct Contest {
    std::size_t setting = 0;  // of the axis; 0 where there is none
    std::vector<const SweepPoint*> entries;

    const SweepPoint* fastest() const;  // nullptr where nothing is planned
};

// Contests along the axis, all else the same.
struct Race {
    std::vector<std::size_t> others;       // settings; 0 of the axis and of alternatives
    std::vector<std::string> competitors;  // "1d", "rdm, replication=2"; one empty name where there are no alternatives
    std::vector<Contest> contests;         // by increasing number of the axis

    const SweepPoint* fastest() const;
};

// main_variation() unless it is an alternative: what contests are laid out along.
std::optional<std::size_t> race_axis(const std::vector<Variation>& variations);
// Refer to the points of `sweep`.
std::vector<Race> races_of(const Sweep& sweep);

// How an epoch's time falls with more ranks, against the fewest ranks of the same line or race that have a plan.
struct Scaling {
    double speed_up = 1;
    double efficiency = 1;  // speed-up over the ratio of ranks
};
Scaling scaling_of(double base_seconds, double base_ranks, double seconds, double ranks);
// Compares each point with the others that differ from it in `ranks` only, in the order of points; none where ranks
// have one value or nothing is planned.
std::vector<std::optional<Scaling>> scaling_of(const Sweep& sweep);
// Does the same for the fastest of each contest.
std::vector<std::optional<Scaling>> scaling_of(const Sweep& sweep, const Race& race);

}  // namespace gnnplan::tools
