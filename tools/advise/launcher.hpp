// How ranks are started on the machine we are on.
#pragma once

#include <cstdint>
#include <string>

namespace gnnplan::tools {

struct LaunchPlace {
    bool open_mpi = false;  // mpirun is Open MPI's
    bool root = false;      // who would start it is root
    int slots = 1;          // ranks that it starts without being told to take more: one per physical core
};

// Here, with the MPI library that calls itself `mpi`.
LaunchPlace launch_place(const std::string& mpi);

// "mpirun -n 4 ", with what Open MPI has to be told to start so many ranks in `place`; "" for one rank.
std::string launcher(std::int64_t ranks, const LaunchPlace& place);

}  // namespace gnnplan::tools
