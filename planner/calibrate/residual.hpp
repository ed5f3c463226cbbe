// Learns from epochs by how much each part of the model errs.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/profile.hpp>

#include <span>
#include <vector>

namespace gnnplan::calibrate {

// For each part with at least four steps: log(measured / predicted) = log(factor) + slope * log(predicted /
// StepCorrection::usual_seconds), each step weighted by its share of its epoch, drawn towards no correction (ridge),
// and with Huber's weights, so that a disturbed step counts less. The spread is what holds the errors of four of five
// steps, each graph's with what the others say, and at least 2 %, or 6 % of a single graph and 3 % of two.
std::vector<StepCorrection> fit_corrections(std::span<const EpochStep> steps);

// Relative errors of whole epochs, each graph's predicted with corrections learned from the others; of a single graph,
// each epoch with those learned from its other epochs.
std::vector<double> epoch_errors(std::span<const EpochStep> steps);

// The profile's corrections, and its errors as those of epochs, from profile.epoch_steps; nothing changes where there
// are none.
void correct(Profile& profile);

}  // namespace gnnplan::calibrate
