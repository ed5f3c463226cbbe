// Parts of validating a schedule: the table of tensors, one step, and what both have to do with the loss.
#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <string>

namespace gnnplan {

[[noreturn]] inline void refuse(const std::string& where, const std::string& what) {
    throw Error(ErrorCode::data, what, where);
}

// The grid, and every tensor whether a step uses it or not: names, sizes, layouts, what its role asks for; and that no
// sum of bytes over tensors, steps and ranks can overflow.
void check_tensors(const Schedule& schedule);

// Checks the operands of the step's operation: ids, roles, types, shapes and layouts.
void check_step(const Schedule& schedule, const Step& step);

// Checks that labels are those of the problem's loss, and logits as wide as its last layer. `where`: the schedule.
void validate_labels(const Schedule& schedule, const ProblemRecord& problem, const std::string& where);

}  // namespace gnnplan
