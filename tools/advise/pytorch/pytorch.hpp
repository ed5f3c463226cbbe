// A plan in the words of a PyTorch user: a program whose comments say what to multiply first, what to keep, what to
// shard how and which collectives to call.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// Whether pytorch_program() writes this plan: not if an inference draws neighbours, groups of ranks train
// apart, or PyTorch lacks the optimiser.
bool has_pytorch_program(const Plan& plan);

// A Python program, at most 100 columns wide: the plan's model as a class of PyTorch, with the plan's products in the
// plan's order in both passes, and a script that trains or applies it on one device, whatever the plan's ranks. Its
// comments say what these hold and send. Throws Error{usage} where has_pytorch_program() says no.
std::string pytorch_program(const Plan& plan);

}  // namespace gnnplan::tools
