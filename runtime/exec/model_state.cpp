#include "runtime/exec/model_state.hpp"

#include <gnnplan/ir/memory.hpp>

#include "kernels/random.hpp"

#include <algorithm>

namespace gnnplan::exec {
namespace {

std::int64_t entry_bytes(const Tensor& tensor) {
    return aligned(gnnplan::bytes_of(tensor.dtype, tensor.rows * tensor.columns));
}

}  // namespace

bool is_model_state(Role role) { return role == Role::weight || role == Role::bias || role == Role::moment; }

std::int64_t ModelState::bytes_of(const Schedule& schedule) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (is_model_state(tensor.role)) bytes += entry_bytes(tensor);
    }
    return bytes;
}

ModelState::ModelState(const Schedule& schedule, std::uint64_t seed, MemoryTracker& tracker)
    : arena_(bytes_of(schedule), tracker) {
    std::int64_t offset = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (!is_model_state(tensor.role)) continue;
        entries_.push_back({tensor, offset});
        offset += entry_bytes(tensor);
        const auto data = values(tensor);
        if (tensor.role == Role::weight) {
            kernels::glorot_uniform(seed, static_cast<std::uint32_t>(tensor.layer),
                                    {data.data(), tensor.rows, tensor.columns, tensor.columns});
        } else {
            std::fill(data.begin(), data.end(), 0.0F);
        }
    }
}

std::vector<Tensor> ModelState::tensors() const {
    std::vector<Tensor> tensors;
    for (const Entry& entry : entries_) tensors.push_back(entry.tensor);
    return tensors;
}

std::span<float> ModelState::values(const Tensor& tensor) const {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.tensor.name == tensor.name; });
    if (entry == entries_.end() || entry->tensor.role != tensor.role || entry->tensor.rows != tensor.rows ||
        entry->tensor.columns != tensor.columns || entry->tensor.dtype != DType::f32) {
        throw Error(ErrorCode::data, "the plan's candidates do not train the same parameters", "tensor " + tensor.name);
    }
    return {reinterpret_cast<float*>(arena_.at(entry->offset)), static_cast<std::size_t>(tensor.rows * tensor.columns)};
}

}  // namespace gnnplan::exec
