// The rows that groups send each other where clones of a vertex get sums of each other's (Numbering::delay).
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>

namespace gnnplan {

// Whether groups send each other anything, and whether it is used in a later epoch.
inline bool shares_clones(const Schedule& schedule) { return schedule.numbering.delay.has_value(); }
inline bool shares_later(const Schedule& schedule) { return schedule.numbering.delay.value_or(0) > 0; }

// Epochs since a run began, as far as they make a difference: the bin whose vertices get sums, and whether owners have
// received what they send on, and other clones what they take. Of a schedule that says none: any late epoch of bin 0.
struct CloneTurn {
    int bin = 0;
    bool owners_know = true;
    bool clones_know = true;
};
CloneTurn turn_of(const Schedule& schedule);
CloneTurn turn_of(const Numbering& numbering, std::int64_t epoch);
// The schedule in an epoch, counted from 0 from the begin of a run.
Schedule at_turn(Schedule schedule, std::int64_t epoch);
// After how many epochs turns repeat, and the first of those that are as all later ones of their bin are.
inline std::int64_t turns_until_all_repeat(const Schedule& schedule) {
    return shares_later(schedule) ? 3 * static_cast<std::int64_t>(*schedule.numbering.delay) : 1;
}

// The clones of a rank's group in one bin, counted.
struct SharedClones {
    std::int64_t of_others = 0;  // clones of vertices that other groups own
    std::int64_t elsewhere = 0;  // clones that others have of its vertices
    std::int64_t owned = 0;      // its vertices of which others have clones
};
SharedClones shared_clones(const Schedule& schedule, const GraphStats& graph, int rank, int bin);

// The floats in whose memory a tensor in flight has the rows that the rank sends and receives in one direction, of all
// bins: elements of bfloat16 lie there two for one.
std::int64_t floats_in_flight(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank);

// A rank keeps the rows of these clones (4 bytes each). With a delay, it also keeps the rows of owned vertices, by how
// much each sum over a group's edges alone is scaled, and how much of it is the self loop.
std::int64_t shared_clone_bytes(const Schedule& schedule, const GraphStats& graph, int rank);

}  // namespace gnnplan
