// A launcher starts the ranks of a program. Messages show its command as a user types it.
#pragma once

#include <cstdint>
#include <string>

namespace gnnplan::comm {

// mpirun and mpiexec belong to MPI libraries, the others to SLURM, Flux and HPE's PALS.
enum class Launcher { mpirun, mpiexec, srun, flux, pals };

// Read from the environment: the launcher that started this process, else that of the batch job around it, else mpirun.
Launcher launcher_here();

// Its name in messages, as it is typed without options.
std::string name_of(Launcher launcher);

// How ranks are started by `launcher`.
struct LaunchPlace {
    Launcher launcher = Launcher::mpirun;
    std::string library = {};  // what MPI calls itself; empty: not known
    bool root = false;         // who starts them is root
    std::int64_t slots = 0;    // ranks that start without more being allowed: one per physical core; 0: not known
};

// "mpirun -n 4", "srun --mpi=pmix -n 4": to be followed by a program and its arguments.
std::string start_command(std::int64_t ranks, const LaunchPlace& place);

// The same by launcher_here().
std::string start_command_here(std::int64_t ranks, const std::string& library = {});

// How to start ranks that may run on as many processing units as they have threads.
std::string wider_ranks(Launcher launcher, int threads);

// How to keep Open MPI or MPICH from network interfaces that do not lead to other hosts.
std::string other_interfaces(Launcher launcher);

}  // namespace gnnplan::comm
