// How a plan is applied to all vertices.
#pragma once

#include "runtime/deploy/options.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <functional>
#include <string>

namespace gnnplan::infer {

struct InferOptions : deploy::RunOptions {
    // Where the pass goes on: the outputs of so many layers are read with hooks.read_layer.
    int layers_done = 0;
};

// Thrown by hooks.layer on every rank: the pass ends there, with a report that says why.
struct EndOfPass {
    Ending ending;
    std::string why;
};

struct InferHooks : deploy::RunHooks {
    // This tensor holds the outputs of layer 1, 2, ... for the vertices of these rows. Collective.
    std::function<void(int layer, const exec::Executor&, TensorId, const deploy::OutputRows&)> layer;
    // Reads the outputs of layer options.layers_done into the tensor, as `layer` got them. Set whenever `layer` is set.
    std::function<void(exec::Executor&, TensorId, const deploy::OutputRows&)> read_layer;
};

}  // namespace gnnplan::infer
