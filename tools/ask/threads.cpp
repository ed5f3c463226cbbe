#include "tools/ask/threads.hpp"

#include "kernels/parallel.hpp"
#include "kernels/table.hpp"
#include "planner/catalog/host.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdlib>

namespace gnnplan::tools {

void use_available_threads() {
    const int wanted = std::getenv("OMP_NUM_THREADS") == nullptr ? catalog::available_units() : kernels::max_threads();
    try {
        kernels::set_threads(wanted);
    } catch (const Error&) {
        kernels::set_threads(1);
    }
}

}  // namespace gnnplan::tools
