// Where the threads of ranks run, so that they neither share a core while another idles nor leave the memory they
// touched first.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <string>
#include <vector>

namespace gnnplan::place {

struct Placement {
    // By rank: the processing units of each of its threads as lists, with spaces between: "0-3 4-7". Empty for a rank
    // that is not bound.
    std::vector<std::string> ranks;
    std::string note;      // what was done, or why nothing was; rank 0's is meant for the user
    bool warning = false;  // there are fewer units than threads
    int free_units = 0;    // that this rank has beyond one for each of its threads, where it is bound
    std::string units{};   // that this rank might run on before, where it is bound
};

// Collective, once on the thread that runs the rank: gives it `threads` threads, and binds it and its OpenMP workers
// for as long as they live. It shares out the units that the rank may run on: those of a launcher that binds,
// else those of the process, divided among the ranks that have the same ones. No unit goes to two threads, and cores
// are filled before their second hardware threads are. Nothing is bound where there are fewer units than threads, where
// the user has told OpenMP what to do, or without hwloc.
Placement bind_threads(comm::Communicator& comm, int threads);

// While it lives, the calling thread, which bind_threads() bound, runs where it might before, and so do threads that it
// starts.
class Unbound {
public:
    explicit Unbound(const Placement& placement);
    Unbound(const Unbound&) = delete;
    Unbound& operator=(const Unbound&) = delete;
    ~Unbound();

private:
    std::string bound_;  // where it goes again; empty: nowhere
};

// For a thread that works beside those of this rank: lets it run on any of the rank's units, and gives it as many
// threads as there are free units.
void work_beside(const Placement& placement, int rank);

}  // namespace gnnplan::place
