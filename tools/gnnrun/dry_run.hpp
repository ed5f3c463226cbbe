// The work and needs of a run, without training.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/base/tensor_memory.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <string>

namespace gnnplan::tools {

// Memory on this graph and steps of the first candidate the options allow, for people. `memory` is what tensors would
// lie in, and the host of an accelerator holds so many bytes for messages.
std::string dry_run_text(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
                         const TensorMemory& memory, std::int64_t message_bytes, bool color);

// The same as gnnplan.dry-run/1.
std::string dry_run_json(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
                         const TensorMemory& memory, std::int64_t message_bytes);

}  // namespace gnnplan::tools
