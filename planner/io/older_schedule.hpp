// The fields that schedules of plan versions 1 and 2 leave out: spaces, parameters, and which updates decay.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <vector>

namespace gnnplan::io {

// Adds it, as those versions meant it. They knew one model, the GCN. `layers`: of each tensor, the layer that the file
// says a weight, bias or moment belongs to.
void complete_older(Schedule& schedule, const std::vector<int>& layers);

}  // namespace gnnplan::io
