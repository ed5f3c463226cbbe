// Applies a trained model to all vertices, layer by layer.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/infer/options.hpp"

#include <gnnplan/ir/plan.hpp>

namespace gnnplan::infer {

// Collective, as train::train() is. Makes one pass of the plan's first candidate that fits, with options.weights, or
// with those that training would begin with. hooks.outputs, if there is one, gets the outputs, and hooks.layer those of
// each layer, as soon as they are there. With options.layers_done the pass begins behind these layers, and the report
// has the other steps only. hooks.stop and EndOfPass end it between two steps; the report then says why and has no
// steps, and hooks.outputs gets nothing. The report has no epochs; measured.epoch_seconds are those of the pass without
// its hooks, the slowest rank's.
//
// The same plan, weights and threads give the same bits. Throws as train::train() does.
RunReport infer(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const InferOptions& options,
                const InferHooks& hooks, measure::Clock& clock);

}  // namespace gnnplan::infer
