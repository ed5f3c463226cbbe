// --save-embeddings.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/train/outputs.hpp"

#include <string>

namespace gnnplan::tools {

// Collective, after an evaluation: writes the outputs of the last layer, vertices x classes floats in the user's
// numbering, as an .npy file. Every rank writes its own rows into one file, which all ranks must be able to open.
// Throws Error{cannot_create} or Error{io} on all ranks; `path` is then as it was.
void write_embeddings(comm::Communicator& comm, const exec::Executor& executor, const train::OutputRows& rows,
                      const std::string& path);

}  // namespace gnnplan::tools
