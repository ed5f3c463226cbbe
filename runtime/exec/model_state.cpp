#include "runtime/exec/model_state.hpp"

#include <gnnplan/ir/memory.hpp>

#include "kernels/random.hpp"

#include <algorithm>

namespace gnnplan::exec {
namespace {

std::int64_t entry_bytes(const Tensor& tensor) {
    return aligned(gnnplan::bytes_of(tensor.dtype, tensor.rows * tensor.columns));
}

// The n-th parameter that is drawn has stream n of the seed.
void initialise(std::span<float> values, const Schedule& schedule, const Tensor& tensor, std::uint64_t seed) {
    if (!tensor.parameter) throw Error(ErrorCode::data, "it is no parameter of the model", "tensor " + tensor.name);
    const auto id = static_cast<std::size_t>(*tensor.parameter);
    const Parameter& parameter = schedule.parameters[id];
    if (parameter.init == Init::zeros) {
        std::fill(values.begin(), values.end(), 0.0F);
        return;
    }
    const auto drawn = std::count_if(schedule.parameters.begin(), schedule.parameters.begin() + *tensor.parameter,
                                     [](const Parameter& before) { return before.init == Init::glorot; });
    kernels::glorot_uniform(seed, static_cast<std::uint32_t>(drawn) + 1,
                            {values.data(), tensor.rows, tensor.columns, tensor.columns});
}

}  // namespace

std::int64_t ModelState::bytes_of(const Schedule& schedule) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (is_model_state(tensor.role)) bytes += entry_bytes(tensor);
    }
    return bytes;
}

ModelState::ModelState(const Schedule& schedule, std::uint64_t seed, MemoryTracker& tracker)
    : stored_(state_tensors(schedule)), arena_(bytes_of(schedule), tracker) {
    std::int64_t offset = 0;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        if (!is_model_state(tensor.role)) continue;
        entries_.push_back({static_cast<TensorId>(id), tensor, offset});
        offset += entry_bytes(tensor);
        const auto data = values(entries_.back());
        if (tensor.role == Role::moment) {
            std::fill(data.begin(), data.end(), 0.0F);
        } else {
            initialise(data, schedule, tensor, seed);
        }
    }
}

std::span<float> ModelState::values(const Entry& entry) const {
    return {reinterpret_cast<float*>(arena_.at(entry.offset)),
            static_cast<std::size_t>(entry.tensor.rows * entry.tensor.columns)};
}

std::span<float> ModelState::values(const StateTensor& stored) const {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.id == stored.tensor; });
    ensure(entry != entries_.end(), "the state has no such tensor");
    return values(*entry);
}

std::span<float> ModelState::values(const Tensor& tensor) const {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.tensor.name == tensor.name; });
    if (entry == entries_.end() || entry->tensor.role != tensor.role || entry->tensor.rows != tensor.rows ||
        entry->tensor.columns != tensor.columns || entry->tensor.dtype != DType::f32) {
        throw Error(ErrorCode::data, "the plan's candidates do not train the same parameters", "tensor " + tensor.name);
    }
    return values(*entry);
}

}  // namespace gnnplan::exec
