// The version, the compiler and the libraries of the build.
#pragma once

#include <string>

namespace gnnplan::tools {

// "0.1.0"
std::string version();

// "TOOL 0.1.0", then one line each for compiler, MPI and BLAS.
std::string version_text(const std::string& tool);

}  // namespace gnnplan::tools
