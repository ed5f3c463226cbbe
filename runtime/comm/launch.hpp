// How this process was started.
#pragma once

namespace gnnplan::comm {

// Whether an MPI launcher (mpirun, mpiexec, srun --mpi) started this process: read from its environment, without
// initialising MPI and whether or not MPI is built in.
bool launched_by_mpi();

}  // namespace gnnplan::comm
