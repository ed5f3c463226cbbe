// The types with which steps describe themselves.
#pragma once

#include <gnnplan/ir/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gnnplan {

class GraphStats;
class StepCheck;  // planner/ir/step_check.hpp
struct Message;   // ir/traffic.hpp
struct RankWork;  // ir/work.hpp
struct Schedule;  // ir/schedule.hpp
struct Staging;   // ir/memory.hpp

// Collectives that calibrations measure apart from plain messages (ir/machine.hpp: Calibration).
enum class Collective : std::uint8_t { none, all_reduce, reduce_scatter, redistribution };

}  // namespace gnnplan
