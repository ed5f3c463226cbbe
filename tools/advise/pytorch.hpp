// A plan in the words of a PyTorch user: a program whose comments say what to multiply first, what to keep, what to
// shard how and which collectives to call.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// Whether pytorch_program() writes plans of this kind.
bool has_pytorch_program(const Plan& plan);

// A Python program, at most 100 columns wide. It trains on one process whatever the plan's ranks, with the plan's
// products in the plan's order in both passes; how to distribute it is in its comments.
std::string pytorch_program(const Plan& plan);

// A layer's products as PyTorch would write them.
struct LayerWords {
    std::string forward;   // "A @ (x @ W2)"
    std::string backward;  // "x.grad = (A.T @ g) @ W2.T; W2.grad = x.T @ (A.T @ g)"
    bool autograd = true;  // whether that is what automatic differentiation makes of the forward expression
};
LayerWords layer_words(const Configuration& configuration, int layer);

}  // namespace gnnplan::tools
