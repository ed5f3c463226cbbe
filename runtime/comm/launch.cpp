#include "runtime/comm/launch.hpp"

#include "runtime/comm/launcher.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace gnnplan::comm {
namespace {

// The variables in which a launcher gives the number of processes and the rank of this one. SLURM's are those of
// `srun`; a batch script lacks the first.
struct Variables {
    const char* size;
    const char* rank;
};
// Launchers use each other to start processes on other nodes: the first in this list whose variables are set counts.
// Open MPI; MVAPICH2; MPICH, Intel MPI, Slurm's PMI-1 and PMI-2, PALS; IBM's jsrun; Flux; SLURM.
constexpr std::array<Variables, 6> launchers{{{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                              {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                              {"PMI_SIZE", "PMI_RANK"},
                                              {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
                                              {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
                                              {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}};

int number_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

const Variables* started_with() {
    const auto* found = std::ranges::find_if(launchers, [](const Variables& one) {
        return std::getenv(one.size) != nullptr && std::getenv(one.rank) != nullptr;
    });
    return found == launchers.end() ? nullptr : found;
}

// A crowd of processes was started together: `of` describes this process among them ("one of 4 tasks of a SLURM step"),
// and `alone` is the command that starts a single one.
struct Crowd {
    std::string of;
    const char* alone = "";
};

Crowd crowd_of(Launcher launcher, const std::string& processes) {
    if (launcher == Launcher::srun) return {"one of " + processes + " tasks of a SLURM step", "srun -n 1"};
    if (launcher == Launcher::flux) return {"one of " + processes + " tasks of a Flux job", "flux run -n 1"};
    if (launcher == Launcher::pals) return {"one of " + processes + " processes of PALS", "mpiexec -n 1"};
    return {"one of " + processes + " processes that the launcher of another MPI started", ""};
}

// How to start so many, or one alone.
std::string advice(Launcher launcher, const std::string& library, int processes, const std::string& alone) {
    if (library.empty()) {
        return "this program was built without MPI: start it " +
               (alone.empty() ? "once, without a launcher" : "with " + alone);
    }
    const bool of_mpi = launcher == Launcher::mpiexec || launcher == Launcher::mpirun;
    const LaunchPlace place{.launcher = of_mpi ? Launcher::mpirun : launcher, .library = library};
    const std::string built = "this program was built with " + library + ": start it with ";
    const std::string mpirun = start_command(processes, {.library = library});
    const std::string own = start_command(processes, place);
    const std::string with = own == mpirun ? mpirun + " of that MPI" : own + ", with " + mpirun + " of that MPI";
    return built + with + (alone.empty() ? "" : ", or alone with " + alone);
}

}  // namespace

bool launched_by_mpi() {
    // Open MPI; MPICH, Intel MPI, Slurm's PMI-1 and PMI-2; anything on PMIx; MVAPICH2.
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"};
    return std::any_of(variables.begin(), variables.end(),
                       [](const char* name) { return std::getenv(name) != nullptr; });
}

int rank_of_launcher() {
    const Variables* found = started_with();
    return number_of(found != nullptr ? found->rank : "PMIX_RANK");
}

void refuse_lone_rank(const std::string& library) {
    const Variables* found = started_with();
    const int processes = found == nullptr ? 1 : number_of(found->size);
    if (processes <= 1) return;
    const Launcher launcher = launcher_here();
    const Crowd crowd = crowd_of(launcher, std::to_string(processes));
    throw Error(
        ErrorCode::mismatch,
        "this is " + crowd.of + " (" + found->size + "=" + std::to_string(processes) +
            "), and each takes itself for rank 0 of 1",
        "launch",
        advice(launcher, library, processes, crowd.alone) +
            (launcher == Launcher::srun ? "; unset SLURM_STEP_NUM_TASKS where each task is to be a run of its own"
                                        : ""));
}

}  // namespace gnnplan::comm
