// Five figures of this machine, measured in a second or two, and the machines that follow from them.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::tools {

struct ProbedHere {
    ProbeFigures figures;
    double seconds = 0;  // that it took
};
// Ranks of so many threads each, which are threads of this process; no operand is larger than `largest` bytes.
ProbedHere probe_here(int ranks, int threads, std::int64_t largest);

// `machine` as this one is now, and a sentence that says by how much it has changed. Throws Error{usage} where the
// profile has no figures to compare with, and Error{mismatch} where it is of another machine.
struct RescaledHere {
    Machine machine;
    std::string note;  // "" where nothing was measured
};
RescaledHere rescaled_here(const Machine& machine);

// This machine where it was not calibrated: the curves of a reference machine, rescaled to a probe of at most as many
// ranks as it has cores. A probe is kept in the user's cache folder and holds for a day. None where $GNNPLAN_PROBE is
// off, for tests.
std::optional<RescaledHere> probed_machine(std::int64_t ranks);

}  // namespace gnnplan::tools
