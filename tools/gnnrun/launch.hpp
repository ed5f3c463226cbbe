// Where the ranks of a run are: processes under an MPI launcher, threads of this process, or this process alone.
#pragma once

#include "tools/gnnrun/flags.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace gnnplan::tools {

// The MPI library that this program was built with; empty: none.
std::string mpi_library();

// Parses the arguments, runs, and returns the exit code. Only rank 0 of the MPI launcher's processes writes messages.
int launch(CLI::App& app, RunFlags& flags, int argc, const char* const* argv);

}  // namespace gnnplan::tools
