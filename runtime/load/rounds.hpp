// Rounds in which ranks deal out what they read. Before each, they tell each other how much is to come.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::load {

enum class RoundState : std::int64_t { dealing, finished, failed };

// Another rank has failed, and says why where all ranks agree.
struct Stopped {};

// Collective. `counts`: as many numbers for each rank, rank after rank; in their place come those that each has for
// this one. They travel with the state, in 8 bytes each. Returns whether all ranks have finished. Throws Stopped when
// another rank has failed.
bool exchange_counts(comm::Communicator& comm, RoundState state, std::vector<std::int64_t>& counts);

}  // namespace gnnplan::load
