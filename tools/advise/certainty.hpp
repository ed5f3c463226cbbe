// How sure a plan is: what it decides, what it leaves undecided, and within which range the true time is.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/evidence.hpp"

#include <gnnplan/ir/plan.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A scheme, or an order of a layer's products, and how often its time is that of the chosen plan.
struct Contender {
    std::string name;
    double ratio = 1;
};

struct Certainty {
    std::vector<Contender> slower;  // of those that fit, schemes, then orders: "2d", "transform first in layer 1"
    // Those that predictions cannot tell from the chosen ones: schemes, the chosen one first, and orders, "the order of
    // layer 2". Either is empty where the chosen ones are decided.
    std::vector<Contender> schemes, orders;
    std::string text;  // all of it in sentences, without `evidence`
    std::optional<TimeFactors> factors;
    double seconds = 0;  // predicted, to which the factors apply
    MachineOrigin origin = MachineOrigin::preset;
    bool compared = false;  // whether predictions of what is slower were
    std::string evidence;
};
Certainty certainty_of(const Plan& plan);

// Both the statement and its evidence.
std::string sure_text(const Certainty& certainty);
io::Document encode(const Certainty& certainty);

// "An epoch takes 9.2 to 74 ms (likely 28 ms)."
std::string range_text(double seconds, const std::optional<TimeFactors>& factors, const Machine& machine, Task task);

// {least, likely, most} seconds; null where nobody has compared any.
io::Document encode_range(double seconds, const std::optional<TimeFactors>& factors);

// "1d, 1.5d and rdm"
std::string listed(const std::vector<std::string>& names);

}  // namespace gnnplan::tools
