// Weights, biases and Adam's moments. Replicated on every rank, they outlive the candidate that trains them, so that a
// run may change candidates between epochs.
#pragma once

#include "runtime/exec/arena.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::exec {

bool is_model_state(Role role);

class ModelState {
public:
    // Bytes the state of `schedule` takes: every tensor aligned as in a memory plan.
    static std::int64_t bytes_of(const Schedule& schedule);

    // Glorot uniform weights, zero biases and moments.
    ModelState(const Schedule& schedule, std::uint64_t seed, MemoryTracker& tracker);

    // Everything that is held, in the order of the schedule that it was made for.
    std::vector<Tensor> tensors() const;
    // Throws Error{data} when the state holds no tensor of this name and shape.
    std::span<float> values(const Tensor& tensor) const;

private:
    struct Entry {
        Tensor tensor;
        std::int64_t offset = 0;
    };

    std::vector<Entry> entries_;
    Arena arena_;
};

}  // namespace gnnplan::exec
