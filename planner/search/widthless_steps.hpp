// Steps of schedules that differ in the widths of their layers, or in the extents of their grid, alone: lowered once,
// costed under any.
#pragma once

#include "planner/search/step_costs.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gnnplan::search {

// A number that stands for the width after `layers` layers of those that are lowered; larger than any width is.
inline std::int64_t stand_in(std::size_t layers) { return (std::int64_t{1} << 40) + static_cast<std::int64_t>(layers); }

class WidthlessSteps {
public:
    using StepId = std::size_t;

    // A step, and how much its seconds count.
    struct Counted {
        StepId step;
        double weight;
    };
    // The steps of one layer of a schedule, with stand-ins for its widths, or of all, that have a weight. Equal steps
    // are one.
    std::vector<Counted> add(Schedule schedule, const std::function<double(const Step&)>& weight,
                             std::optional<int> layer = {});

    // Steps are costed on this grid from now on. The same axes split something as on the one they were lowered for.
    void put_on(const Grid& grid, const Numbering& numbering);

    // Seconds of a step under each of the switches, where widths[i] is what stand_in(i) stands for, if it is there.
    std::vector<double> seconds(StepId step, const std::vector<std::int64_t>& widths, StepCosts& costs,
                                const std::vector<Switches>& switches) const;

    std::size_t size() const { return steps_.size(); }

private:
    struct Known {
        std::shared_ptr<Schedule> schedule;  // its tensors' shapes change with every question
        Operation operation;
        std::vector<Tensor> operands;  // as they were lowered
        std::vector<TensorId> ids;
    };

    std::vector<Known> steps_;
    std::unordered_map<std::string, StepId> ids_;  // by signature
};

}  // namespace gnnplan::search
