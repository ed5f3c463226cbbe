// A machine that drifts while it is measured: figures that are taken in between say how fast it was at each moment.
#pragma once

#include <gnnplan/ir/probe.hpp>
#include <gnnplan/ir/profile.hpp>

#include <span>
#include <vector>

namespace gnnplan::calibrate {

struct Pilot {
    double when = 0;  // seconds since measuring began
    ProbeFigures figures{};
};

// The reference is the median of each figure, and of an even number of pilots the faster one in the middle, so that no
// state is made up. The fastest state would be that of the luckiest reading, and a machine that is shared is seldom in
// it; the median is a state that many points were measured in, so that little is changed.
// cpu and cores are the caller's to fill in. There is at least one pilot.
ProbeReference reference_of(std::span<const Pilot> pilots);

// The figures at a moment: between two pilots linear, and otherwise those of the nearest. Pilots ascend by `when`.
ProbeFigures figures_at(std::span<const Pilot> pilots, double when);

// Whether a figure differs by so much that what was measured in between is of neither state.
bool state_changed(const ProbeFigures& before, const ProbeFigures& after);

// Rescales the seconds of a sample that was taken when the figures were `then` to the reference: products by what they
// gather from where, dense ones and losses by the GEMM's figure (unless memory bounds them), elementwise work by what
// it touches, reading and loading by copies, and messages by exchanges. What compares times of one moment (overlap)
// stays.
void correct(Sample& sample, const ProbeFigures& then, const ProbeFigures& reference);

}  // namespace gnnplan::calibrate
