#include "runtime/comm/launch.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace gnnplan::comm {
namespace {

// The variables in which a launcher gives the number of processes and the rank of this one. SLURM's are those of
// `srun`; a batch script lacks the first.
struct Launcher {
    const char* size;
    const char* rank;
};
constexpr Launcher of_slurm{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"};
// Launchers use each other to start processes on other nodes: the first in this list whose variables are set counts.
// Open MPI; MVAPICH2; MPICH, Intel MPI, Slurm's PMI-1 and PMI-2; IBM's jsrun; Flux.
constexpr std::array<Launcher, 6> launchers{{{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                             {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                             {"PMI_SIZE", "PMI_RANK"},
                                             {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
                                             {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
                                             of_slurm}};

int number_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

const Launcher* launcher() {
    const auto* found = std::ranges::find_if(launchers, [](const Launcher& one) {
        return std::getenv(one.size) != nullptr && std::getenv(one.rank) != nullptr;
    });
    return found == launchers.end() ? nullptr : found;
}

}  // namespace

bool launched_by_mpi() {
    // Open MPI; MPICH, Intel MPI, Slurm's PMI-1 and PMI-2; anything on PMIx; MVAPICH2.
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"};
    return std::any_of(variables.begin(), variables.end(),
                       [](const char* name) { return std::getenv(name) != nullptr; });
}

int rank_of_launcher() {
    const Launcher* found = launcher();
    return number_of(found != nullptr ? found->rank : "PMIX_RANK");
}

void refuse_lone_rank(const std::string& library) {
    const Launcher* found = launcher();
    const int processes = found == nullptr ? 1 : number_of(found->size);
    if (processes <= 1) return;
    const std::string says = std::string(found->size) + "=" + std::to_string(processes);
    const std::string mpirun = library.empty() ? "" : "start it with mpirun -n " + std::to_string(processes);
    if (std::string_view(found->size) == of_slurm.size) {
        throw Error(
            ErrorCode::mismatch,
            "this is one of " + std::to_string(processes) + " tasks of a SLURM step (" + says +
                "), and each takes itself for rank 0 of 1",
            "launch",
            (library.empty() ? "start it with srun -n 1"
                             : mpirun + ", with srun --mpi=pmix where SLURM has that, or alone with srun -n 1") +
                "; unset " + of_slurm.size + " where each task is to be a run of its own");
    }
    throw Error(ErrorCode::mismatch,
                "the launcher of another MPI started " + std::to_string(processes) + " processes (" + says +
                    "), and each takes itself for rank 0 of 1",
                "launch",
                library.empty() ? "this program was built without MPI: start it once, without a launcher"
                                : "this program was built with " + library + ": " + mpirun + " of that MPI");
}

}  // namespace gnnplan::comm
