// How this process was started.
#pragma once

#include <string>

namespace gnnplan::comm {

// Whether an MPI launcher (mpirun, mpiexec, srun --mpi) started this process: read from its environment, without
// initialising MPI and whether or not MPI is built in.
bool launched_by_mpi();

// The number of this process among those that were started together, as their launcher says; 0 where none does.
int rank_of_launcher();

// To be called where this process is alone in its MPI, or does not use any. Throws Error{mismatch} where it was started
// with others, which then all take themselves for rank 0 of 1: by a launcher that this program's MPI, `library`, does
// not know ("" without MPI), or as one of several tasks of a SLURM step. How many tasks the allocation has does not
// matter: a batch script runs once.
void refuse_lone_rank(const std::string& library);

}  // namespace gnnplan::comm
