#include "tools/text/version.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

}  // namespace

std::string version() { return GNNPLAN_VERSION; }

std::string version_text(const std::string& tool) {
    return fmt::format("{} {}\ncompiler  {}\nMPI       {}\nBLAS      none, own kernels\nCUDA      {}", tool, version(),
                       compiler, GNNPLAN_MPI_TEXT, GNNPLAN_CUDA_TEXT);
}

}  // namespace gnnplan::tools
