#include "runtime/comm/launch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gnnplan::comm {

bool launched_by_mpi() {
    // Open MPI; MPICH, Intel MPI, Slurm's PMI-1 and PMI-2; anything on PMIx; MVAPICH2.
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"};
    return std::any_of(variables.begin(), variables.end(),
                       [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace gnnplan::comm
