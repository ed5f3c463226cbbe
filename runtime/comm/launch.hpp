// How this process was started.
#pragma once

#include <string>

namespace gnnplan::comm {

// Whether an MPI launcher (mpirun, mpiexec, srun --mpi) started this process: read from its environment, without
// initialising MPI and whether or not MPI is built in.
bool launched_by_mpi();

// The rank of this process among those that were started together, as their launcher says; 0 without a launcher.
int rank_of_launcher();

// To be called where this process is alone in MPI, or uses no MPI. Throws Error{mismatch} where it was started together
// with others, each of which would then take itself for rank 0 of 1: by a launcher that this program's MPI, `library`,
// does not know ("" without MPI), or as one of several tasks of a SLURM step. The number of tasks of the allocation
// does not matter, because a batch script runs once.
void refuse_lone_rank(const std::string& library);

}  // namespace gnnplan::comm
