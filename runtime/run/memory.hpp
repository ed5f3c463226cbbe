// Checks whether the machine has the memory that a plan is known to need.
#pragma once

#include "runtime/data/dataset.hpp"

#include <gnnplan/ir/plan.hpp>

namespace gnnplan::run {

// Both throw Error{infeasible} when it has not, for this candidate of the plan; estimated numbers do not count.

// For ranks that are processes on this machine, which share no memory.
void check_memory(const Plan& plan, int candidate, int ranks_here);

// For ranks that are threads. They share the structure of a graph that is loaded whole, and all features, which are
// kept until each rank has its own; each rank has its own tensors and shares of a graph. Before the data is loaded
// (`dataset` is null) this refuses plans that need too much in any case.
void check_memory_of_threads(const Plan& plan, int candidate, const data::Dataset* dataset);

}  // namespace gnnplan::run
