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
std::vector<float> initial(const Schedule& schedule, const Tensor& tensor, std::uint64_t seed) {
    std::vector<float> values(static_cast<std::size_t>(tensor.rows * tensor.columns), 0.0F);
    if (tensor.role == Role::moment) return values;
    if (!tensor.parameter) throw Error(ErrorCode::data, "it is no parameter of the model", "tensor " + tensor.name);
    const Parameter& parameter = schedule.parameters[static_cast<std::size_t>(*tensor.parameter)];
    if (parameter.init == Init::zeros) return values;
    if (parameter.init == Init::ones) return std::vector<float>(values.size(), 1.0F);
    const auto drawn = std::count_if(schedule.parameters.begin(), schedule.parameters.begin() + *tensor.parameter,
                                     [](const Parameter& before) { return before.init == Init::glorot; });
    kernels::glorot_uniform(seed, static_cast<std::uint32_t>(drawn) + 1,
                            {values.data(), tensor.rows, tensor.columns, tensor.columns});
    return values;
}

}  // namespace

std::int64_t ModelState::bytes_of(const Schedule& schedule) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (is_model_state(tensor.role)) bytes += entry_bytes(tensor);
    }
    return bytes;
}

ModelState::ModelState(const Schedule& schedule, std::uint64_t seed, kernels::Device& device, MemoryTracker& tracker)
    : device_(device), stored_(state_tensors(schedule)), arena_(device, bytes_of(schedule), tracker) {
    std::int64_t offset = 0;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        if (!is_model_state(tensor.role)) continue;
        entries_.push_back({static_cast<TensorId>(id), tensor, offset});
        offset += entry_bytes(tensor);
    }
    draw(schedule, seed);
}

void ModelState::draw(const Schedule& schedule, std::uint64_t seed) {
    for (const Entry& entry : entries_) {
        const std::vector<float> values = initial(schedule, entry.tensor, seed);
        kernels::upload(device_, std::as_bytes(std::span(values)), arena_.at(entry.offset));
    }
}

const ModelState::Entry& ModelState::entry_of(const StateTensor& stored) const {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.id == stored.tensor; });
    ensure(entry != entries_.end(), "the state has no such tensor");
    return *entry;
}

std::vector<float> ModelState::values(const StateTensor& stored) const {
    const Entry& entry = entry_of(stored);
    std::vector<float> values(static_cast<std::size_t>(entry.tensor.rows * entry.tensor.columns));
    device_.download(arena_.at(entry.offset), std::as_writable_bytes(std::span(values)));
    device_.finish();
    return values;
}

void ModelState::set(const StateTensor& stored, std::span<const float> values) {
    const Entry& entry = entry_of(stored);
    ensure(std::ssize(values) == entry.tensor.rows * entry.tensor.columns, "a tensor of the state has another size");
    kernels::upload(device_, std::as_bytes(values), arena_.at(entry.offset));
}

std::byte* ModelState::place(const Tensor& tensor) const {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.tensor.name == tensor.name; });
    if (entry == entries_.end() || entry->tensor.role != tensor.role || entry->tensor.rows != tensor.rows ||
        entry->tensor.columns != tensor.columns || entry->tensor.dtype != DType::f32) {
        throw Error(ErrorCode::data, "the plan's candidates do not train the same parameters", "tensor " + tensor.name);
    }
    return arena_.at(entry->offset);
}

}  // namespace gnnplan::exec
