// The first words of ranks to each other, so that those that cannot be reached have names.
#pragma once

#include "runtime/comm/mpi_start.hpp"

namespace gnnplan::comm {

// Collective over MPI_COMM_WORLD. Returns when ranks have answered: all of them where they are few, else those at
// distances of powers of two. `start` learns who has.
void greet_others(MpiStart& start);

}  // namespace gnnplan::comm
