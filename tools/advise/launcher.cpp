#include "tools/advise/launcher.hpp"

#include "planner/catalog/host.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace gnnplan::tools {

LaunchPlace launch_place(const std::string& mpi) {
    return {mpi.find("Open MPI") != std::string::npos, geteuid() == 0, catalog::physical_cores()};
}

std::string launcher(std::int64_t ranks, const LaunchPlace& place) {
    if (ranks == 1) return "";
    std::string text = fmt::format("mpirun -n {} ", ranks);
    if (place.open_mpi && place.root) text += "--allow-run-as-root ";
    if (place.open_mpi && ranks > place.slots) text += "--oversubscribe ";
    return text;
}

}  // namespace gnnplan::tools
