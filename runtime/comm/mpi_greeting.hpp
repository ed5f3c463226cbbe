// The first messages between ranks, so that errors can name the ranks that cannot be reached.
#pragma once

#include "runtime/comm/mpi_start.hpp"

namespace gnnplan::comm {

// Collective over MPI_COMM_WORLD. Returns when ranks have answered: all of them where they are few, else those at
// distances of powers of two. `start` learns which have answered.
void greet_others(MpiStart& start);

}  // namespace gnnplan::comm
