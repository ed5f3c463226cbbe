// Weights, biases and Adam's moments. Replicated on every rank, they outlive the candidate that trains them, so that a
// run may change candidates between epochs.
#pragma once

#include "runtime/exec/arena.hpp"

#include <gnnplan/ir/model_state.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::exec {

class ModelState {
public:
    // Bytes the state of `schedule` takes: every tensor aligned as in a memory plan.
    static std::int64_t bytes_of(const Schedule& schedule);

    // Parameters as the model says, moments zero. A parameter's values depend on the seed and on how many parameters
    // before it are drawn, not on the schedule. Throws Error{data} when a weight or bias is no parameter of the model.
    // The device outlives the state.
    ModelState(const Schedule& schedule, std::uint64_t seed, kernels::Device& device, MemoryTracker& tracker);

    // Draws all values anew, from another seed.
    void draw(const Schedule& schedule, std::uint64_t seed);

    // The tensors that files keep, in the order of the schedule that it was made for; their values; and others for
    // them.
    const std::vector<StateTensor>& tensors() const { return stored_; }
    std::vector<float> values(const StateTensor& stored) const;
    void set(const StateTensor& stored, std::span<const float> values);
    // Where a tensor lies on the device. Throws Error{data} when the state holds none of this name and shape.
    std::byte* place(const Tensor& tensor) const;

private:
    struct Entry {
        TensorId id = 0;
        Tensor tensor;
        std::int64_t offset = 0;
    };
    const Entry& entry_of(const StateTensor& stored) const;

    kernels::Device& device_;
    std::vector<Entry> entries_;
    std::vector<StateTensor> stored_;
    Arena arena_;
};

}  // namespace gnnplan::exec
