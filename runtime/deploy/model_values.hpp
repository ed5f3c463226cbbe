// The values of a model's state under the names that they have in files.
#pragma once

#include "runtime/exec/model_state.hpp"

#include <gnnplan/ir/training_state.hpp>

#include <string>
#include <vector>

namespace gnnplan::deploy {

inline constexpr const char* best_prefix = "best.";

// Copies of parameters, and with `moments` of Adam's moments (gnnplan/ir/model_state.hpp: their names).
std::vector<NamedTensor> values_of(const exec::ModelState& state, bool moments);

// Throws ErrorCode::mismatch when `values` lacks a weight or a bias of the schedule, or with `moments` one of Adam's
// moments, holds one of another shape, or a layer that the schedule does not have. `where` names their file.
void check_values(const std::vector<NamedTensor>& values, const Schedule& schedule, bool moments,
                  const std::string& where);

// Sets the state to `values`, which were checked.
void set_values(exec::ModelState& state, const std::vector<NamedTensor>& values, bool moments);

// Whether the best weights are among them; and whether a state has those that are the best by this.
bool holds_best(const std::vector<NamedTensor>& values);
bool holds_best(const TrainingState& state, BestBy by);

// The best weights among them, under the names that they have as the model's; empty if there are none.
std::vector<NamedTensor> best_values(const std::vector<NamedTensor>& values);

// Whether all of them are numbers.
bool all_finite(const std::vector<NamedTensor>& values);

}  // namespace gnnplan::deploy
