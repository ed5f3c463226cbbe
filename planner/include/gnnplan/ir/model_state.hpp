// The state that training changes and files keep: the parameters of a schedule and what its optimiser remembers of
// each.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan {

struct StateTensor {
    TensorId tensor = 0;
    std::string name;                 // in files: "layers.1.weight", "adam.layers.1.weight.exp_avg"
    std::vector<std::int64_t> shape;  // in files: a vector has one extent
    bool moment = false;
};

// In the order of the schedule's tensors.
std::vector<StateTensor> state_tensors(const Schedule& schedule);

}  // namespace gnnplan
