// Whether the machine has the memory that a plan is known to need.
#pragma once

#include "runtime/data/dataset.hpp"

#include <gnnplan/ir/plan.hpp>

namespace gnnplan::tools {

// All throw Error{infeasible} when it has not, for this candidate of the plan; what was only estimated is not looked at.

// Ranks as processes on this machine, each of which has all to itself.
void check_memory(const Plan& plan, int candidate, int ranks_here);

// Ranks as threads. They share the structure of a graph that is loaded whole, and all features, which are kept until each
// rank has its own; tensors and shares of a graph are a rank's. Before the data is loaded (`dataset` is null) this finds
// what is too much in any case.
void check_memory_of_threads(const Plan& plan, int candidate, const data::Dataset* dataset);

}  // namespace gnnplan::tools
