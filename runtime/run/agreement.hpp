// Facts that have to be the same on every rank. Ranks started with other arguments, other data or another version would
// compute nonsense, or wait for each other forever.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/run/settings.hpp"

#include <gnnplan/ir/plan.hpp>

#include <string>
#include <vector>

namespace gnnplan::run {

struct Fact {
    std::string name;   // io::option_fact("seed"), "the plan"
    std::string value;  // as a person reads it
};

// The options that decide what is computed in an epoch.
std::vector<Fact> facts_of_training(const Settings& settings);
// The facts that decide how a run of this plan goes: the version, the plan and the options.
std::vector<Fact> facts_of_run(const Settings& settings, const Plan& plan);
// The facts of a plan's model that the shapes of its weights do not show.
std::vector<Fact> facts_of_model(const Settings& settings, const ProblemRecord& problem);
// The graph, the labels and the split.
std::vector<Fact> facts_of_data(const data::Dataset& dataset);

// Collective. Throws comm::AgreedError with ErrorCode::mismatch when a fact is not the same on every rank, which it
// names with the first rank that differs from rank 0.
void require_same(comm::Communicator& comm, const std::vector<Fact>& facts);

}  // namespace gnnplan::run
