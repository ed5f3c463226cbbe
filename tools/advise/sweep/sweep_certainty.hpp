// How sure a sweep is: which of its competitors are decided, how far its times may be off, and what that rests on.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/evidence.hpp"
#include "tools/advise/sweep/sweep.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct SweepCertainty {
    // Competitors that are slower than the fastest by more than predictions err, wherever they fit; and those that are
    // a tie with others somewhere.
    std::vector<std::string> slower, undecided;
    std::optional<TimeFactors> factors;
    MachineOrigin origin = MachineOrigin::preset;
    std::string text;  // all of it in sentences, without `evidence`
    std::string evidence;
};
SweepCertainty certainty_of(const Sweep& sweep);

// Both the statement and its evidence.
std::string sure_text(const SweepCertainty& certainty);
io::Document encode(const SweepCertainty& certainty);

}  // namespace gnnplan::tools
