// The memory of a rank along the steps of a plan, by the tensors that take most of it.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A tensor's room, from the step at position `first` to the one at `last`.
struct ShownStay {
    std::string name;
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

// The memory of rank 0, which holds the largest dense blocks. Positions are those of `steps`.
struct MemoryOverSteps {
    std::int64_t limit_bytes = 0;    // that a rank may use
    std::int64_t loading_bytes = 0;  // while the graph is loaded and blocks are cut, before the first step; 0 on
                                     // accelerators, whose hosts do that
    std::int64_t fixed_bytes = 0;    // beside the arena at every step: sparse blocks, requests, what is kept of loading
    std::int64_t arena_bytes = 0;    // room for all that follows
    std::vector<std::string> steps;  // names in the order in which time passes
    std::vector<ShownStay> tensors;  // the largest, in the order in which they come
    std::vector<std::int64_t> other_bytes;    // by position: tensors that are not shown
    std::vector<std::int64_t> staging_bytes;  // by position: buffers of the step itself
};

// Looks at the first candidate, whose graph is at hand as its sizes alone.
MemoryOverSteps memory_over_steps(const Plan& plan);
io::Document encode(const MemoryOverSteps& memory);

}  // namespace gnnplan::tools
