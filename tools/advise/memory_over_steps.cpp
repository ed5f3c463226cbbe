#include "tools/advise/memory_over_steps.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/memory_over_time.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_tensors = 8;

// Adds the bytes that a rank holds beside its arena: before the first step, and from then on.
void add_fixed(const Plan& plan, const MemoryPlan& placed, MemoryOverSteps& memory) {
    const TensorMemory of_machine = plan.machine.tensor_memory();
    const std::int64_t blocks = placed.adjacency_bytes + placed.request_bytes;
    memory.arena_bytes = placed.arena_bytes;
    if (of_machine.accelerator) {
        memory.fixed_bytes = blocks + placed.served_bytes + of_machine.workspace_bytes;
        return;
    }
    memory.loading_bytes = blocks + placed.output_vertex_bytes + placed.load_bytes + placed.order_bytes;
    memory.fixed_bytes = blocks + placed.output_vertex_bytes + placed.kept_bytes();
}

// The largest tensors with their names, and the sum of all others at each position.
void add_tensors(const Schedule& schedule, std::vector<TensorStay> stays, MemoryOverSteps& memory) {
    std::ranges::stable_sort(stays, std::ranges::greater(), &TensorStay::bytes);
    const std::size_t shown = std::min(stays.size(), most_tensors);
    memory.other_bytes.assign(memory.steps.size(), 0);
    for (std::size_t i = 0; i < stays.size(); ++i) {
        const TensorStay& stay = stays[i];
        const std::size_t last = std::min(stay.last, memory.steps.size() - 1);
        if (i < shown) {
            memory.tensors.push_back({tensor_of(schedule, stay.tensor).name, stay.bytes, stay.first, last});
            continue;
        }
        for (std::size_t at = stay.first; at <= last; ++at) memory.other_bytes[at] += stay.bytes;
    }
    std::ranges::stable_sort(memory.tensors, {}, &ShownStay::first);
}

}  // namespace

MemoryOverSteps memory_over_steps(const Plan& plan) {
    const Schedule& schedule = plan.candidates.front().schedule;
    const std::shared_ptr<const GraphStats> sizes = sizes_of(plan, schedule.numbering);
    MemoryOverTime over_time = memory_over_time(schedule, *sizes, 0);
    MemoryOverSteps memory;
    memory.limit_bytes = plan.memory_per_rank();
    add_fixed(plan, plan_memory(schedule, *sizes, 0), memory);
    for (const std::size_t step : over_time.steps) memory.steps.push_back(schedule.steps[step].name);
    memory.staging_bytes = std::move(over_time.staging_bytes);
    add_tensors(schedule, std::move(over_time.tensors), memory);
    return memory;
}

io::Document encode(const MemoryOverSteps& memory) {
    io::Document tensors = io::Document::array();
    for (const ShownStay& stay : memory.tensors) {
        tensors.push(io::Document::object(
            {{"name", stay.name}, {"bytes", stay.bytes}, {"first", stay.first}, {"last", stay.last}}));
    }
    io::Document document = io::Document::object({{"limit_bytes", memory.limit_bytes},
                                                  {"loading_bytes", memory.loading_bytes},
                                                  {"fixed_bytes", memory.fixed_bytes},
                                                  {"arena_bytes", memory.arena_bytes},
                                                  {"steps", memory.steps}});
    return document.set("tensors", std::move(tensors))
        .set("other_bytes", memory.other_bytes)
        .set("staging_bytes", memory.staging_bytes);
}

}  // namespace gnnplan::tools
