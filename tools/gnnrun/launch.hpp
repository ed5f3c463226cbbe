// Where the ranks of a run are: processes under an MPI launcher, threads of this process, or this process alone.
#pragma once

#include "tools/gnnrun/flags.hpp"

#include <CLI/CLI.hpp>

namespace gnnplan::tools {

// Parses the arguments and runs; the exit code. Of the processes an MPI launcher started only rank 0 talks.
int launch(CLI::App& app, RunFlags& flags, int argc, const char* const* argv);

}  // namespace gnnplan::tools
