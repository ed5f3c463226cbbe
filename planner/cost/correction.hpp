// By how much epochs differ from what a machine's curves say of a step.
#pragma once

#include <gnnplan/ir/machine.hpp>

namespace gnnplan::cost {

// Null where nothing was learned about the part of the model.
const StepCorrection* correction_of(const Machine& machine, ModelPart part);

// The seconds that an epoch's step will take where the curves say `seconds`: as they are, where nothing was learned
// about its part of the model.
double corrected(const Machine& machine, ModelPart part, double seconds);
// The seconds that the curves say of a step of so many corrected ones.
double uncorrected(const Machine& machine, ModelPart part, double seconds);

}  // namespace gnnplan::cost
