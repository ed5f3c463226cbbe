#include "runtime/comm/launcher.hpp"

#include <cstdlib>
#include <string_view>

namespace gnnplan::comm {
namespace {

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

std::string_view value_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? "" : text;
}

// A step of SLURM gives its tasks the variables of MPICH and of PALS, too, if they are to talk PMI. MPICH's launcher
// has SLURM start one proxy on each node, whose variables its ranks inherit: then the numbers of tasks differ.
bool is_task_of_srun() {
    return is_set("SLURM_STEP_NUM_TASKS") && is_set("SLURM_PROCID") &&
           (!is_set("PMI_SIZE") || value_of("PMI_SIZE") == value_of("SLURM_STEP_NUM_TASKS"));
}

Launcher launcher_of_job() {
    if (is_set("SLURM_JOB_ID")) return Launcher::srun;
    if (is_set("FLUX_URI")) return Launcher::flux;
    return is_set("PBS_JOBID") ? Launcher::mpiexec : Launcher::mpirun;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool is_open_mpi(const std::string& library) { return contains(library, "Open MPI"); }

// The interface by which SLURM's tasks find each other: Open MPI wants PMIx, MPICH and what came from it PMI-2. HPE's
// is the default where it is installed.
std::string slurm_interface(const std::string& library) {
    if (contains(library, "CRAY")) return "";
    for (const char* name : {"MPICH", "MVAPICH", "Intel"})
        if (contains(library, name)) return "--mpi=pmi2 ";
    return "--mpi=pmix ";
}

}  // namespace

Launcher launcher_here() {
    if (is_task_of_srun() && !is_set("OMPI_COMM_WORLD_SIZE")) return Launcher::srun;
    if (is_set("OMPI_COMM_WORLD_SIZE") || is_set("MV2_COMM_WORLD_SIZE")) return Launcher::mpirun;
    if (is_set("PALS_RANKID")) return Launcher::pals;
    if (is_set("FLUX_TASK_RANK")) return Launcher::flux;
    return is_set("PMI_SIZE") ? Launcher::mpiexec : launcher_of_job();
}

std::string name_of(Launcher launcher) {
    switch (launcher) {
        case Launcher::srun: return "srun";
        case Launcher::flux: return "flux run";
        case Launcher::mpiexec:
        case Launcher::pals: return "mpiexec";
        case Launcher::mpirun: break;
    }
    return "mpirun";
}

std::string start_command(std::int64_t ranks, const LaunchPlace& place) {
    const bool open_mpi = is_open_mpi(place.library);
    const std::string number = "-n " + std::to_string(ranks);
    if (place.launcher == Launcher::srun) return "srun " + slurm_interface(place.library) + number;
    if (place.launcher == Launcher::flux) return std::string("flux run ") + (open_mpi ? "-o pmi=pmix " : "") + number;
    // Open MPI's mpiexec is its mpirun, and PALS's does not start its ranks.
    std::string text = (open_mpi ? "mpirun" : name_of(place.launcher)) + " " + number;
    if (open_mpi && place.root) text += " --allow-run-as-root";
    if (open_mpi && place.slots > 0 && ranks > place.slots) text += " --oversubscribe";
    return text;
}

std::string start_command_here(std::int64_t ranks, const std::string& library) {
    return start_command(ranks, {.launcher = launcher_here(), .library = library});
}

std::string wider_ranks(Launcher launcher, int threads) {
    const std::string number = std::to_string(threads);
    switch (launcher) {
        case Launcher::srun: return "srun --cpus-per-task=" + number + ", or srun --cpu-bind=none";
        case Launcher::flux: return "flux run --cores-per-task=" + number + ", or flux run -o cpu-affinity=off";
        case Launcher::pals: return "mpiexec --depth=" + number + " --cpu-bind=depth, or mpiexec --cpu-bind=none";
        case Launcher::mpiexec: return "mpiexec -bind-to core:" + number + ", or mpiexec -bind-to none";
        case Launcher::mpirun: break;
    }
    return "mpirun --map-by slot:PE=" + number + " --bind-to core, or mpirun --bind-to none";
}

std::string other_interfaces(Launcher launcher) {
    if (launcher == Launcher::mpirun) return "mpirun --mca btl_tcp_if_exclude lo,docker0";
    if (launcher == Launcher::mpiexec) return "mpiexec -iface with the name of the right one";
    return "OMPI_MCA_btl_tcp_if_exclude=lo,docker0 in the environment, with Open MPI";
}

}  // namespace gnnplan::comm
