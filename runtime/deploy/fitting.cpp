#include "runtime/deploy/fitting.hpp"

#include "runtime/load/share.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/ir/memory.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace gnnplan::deploy {
namespace {

const Candidate& candidate(const Plan& plan, int index) { return plan.candidates[static_cast<std::size_t>(index)]; }

Error more_than_allowed(std::int64_t least, std::int64_t allowed) {
    return {ErrorCode::infeasible,
            "on this graph every candidate needs more memory than the plan was made for: the thriftiest needs " +
                std::to_string(least) + " bytes per rank, and " + std::to_string(allowed) + " are allowed",
            "memory", "plan again with `graph` and this path"};
}

Error more_than_free(std::int64_t least, const DeviceRoom& room) {
    return {ErrorCode::infeasible,
            "out of memory: each rank needs " + enough_memory_text(least) + " of its GPU, and " +
                memory_text(room.bytes_per_rank) + " are free for it" +
                (room.ranks > 1 ? ", as " + std::to_string(room.ranks) + " ranks share the GPU" : std::string()),
            {},
            "plan with a `memory` of less than that or for more GPUs, or end what else uses the GPU: nvidia-smi shows "
            "it"};
}

}  // namespace

std::vector<std::int64_t> bytes_by_candidate(const Plan& plan, const std::vector<int>& usable, const GraphStats& graph,
                                             const BytesOf& bytes_of) {
    std::vector<std::int64_t> bytes(usable.size(), -1);
    for (std::size_t i = 0; i < usable.size(); ++i) {
        if (bytes[i] >= 0) continue;
        const Schedule& first = candidate(plan, usable[i]).schedule;
        const auto counts = graph.numbered(first.numbering);
        for (std::size_t j = i; j < usable.size(); ++j) {
            const Schedule& schedule = candidate(plan, usable[j]).schedule;
            if (schedule.numbering != first.numbering) continue;
            bytes[j] = bytes_of(schedule, *counts);
        }
    }
    return bytes;
}

exec::GraphCounts counts_of(const data::Dataset& dataset, std::shared_ptr<const sample::Pool> pool) {
    return exec::GraphCounts(dataset.graph(), dataset.subset(), std::move(pool));
}

std::shared_ptr<const exec::GraphCounts> counts_for(const Schedule& schedule, const data::Dataset& dataset,
                                                    std::shared_ptr<const sample::Pool> pool) {
    return std::dynamic_pointer_cast<const exec::GraphCounts>(
        counts_of(dataset, std::move(pool)).numbered(schedule.numbering));
}

GroupScales scales_of_groups(const Plan& plan, const Schedule& schedule, const exec::NumberedCounts& counts,
                             const data::DegreeScales& whole, exec::MemoryTracker& tracker) {
    if (counts.clones() == nullptr) return {};
    if (counts.groups() != schedule.grid.groups)
        throw Error(ErrorCode::mismatch,
                    counts.pool() != nullptr
                        ? "on this graph batches have other sizes than in the plan, which was made without it"
                        : "on this graph groups have other clones than in the plan",
                    "plan", "plan again with `graph` and this path");
    const Normalisation normalisation = plan.problem.graph.normalisation;
    const sample::Pool* pool = counts.pool();
    const auto of_batches = [&] {
        const bool other = schedule.numbering.batches->sampling.training_graph;
        return exec::scales_of_batches(*counts.clones(), *pool, schedule.numbering.weighs_batches(),
                                       other ? data::stored_scales(pool->sampled(), normalisation) : whole,
                                       normalisation);
    };
    exec::CloneScales scales =
        pool != nullptr ? of_batches() : exec::scales_of_clones(*counts.clones(), whole, normalisation);
    exec::Charge charge(tracker, load::held_bytes({}, scales.scales), exec::Holder::host);
    return {std::move(scales), std::move(charge)};
}

std::vector<int> candidates_that_fit(const Plan& plan, const std::vector<int>& usable,
                                     const std::optional<exec::GraphCounts>& graph, const TensorMemory& memory,
                                     const std::optional<DeviceRoom>& room) {
    constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    const std::int64_t allowed = plan.problem.memory_per_rank > 0 ? plan.problem.memory_per_rank : unlimited;
    const std::int64_t free = room ? room->bytes_per_rank : unlimited;
    if (std::min(allowed, free) == unlimited) return usable;
    std::vector<std::int64_t> bytes;
    if (!graph) {
        for (const int index : usable) bytes.push_back(candidate(plan, index).predicted.peak_bytes_per_rank);
    } else {
        bytes = bytes_by_candidate(plan, usable, *graph, [&](const Schedule& schedule, const GraphStats& counts) {
            return peak_bytes_per_rank(schedule, counts, memory);
        });
    }
    const std::int64_t least = *std::min_element(bytes.begin(), bytes.end());
    if (least > allowed) throw more_than_allowed(least, allowed);
    if (least > free) throw more_than_free(least, *room);
    std::vector<int> fitting;
    for (std::size_t i = 0; i < usable.size(); ++i) {
        if (bytes[i] <= std::min(allowed, free)) fitting.push_back(usable[i]);
    }
    return fitting;
}

void check_memory(const Plan& plan, const Schedule& schedule, const GraphStats& counts, const TensorMemory& memory) {
    const std::int64_t allowed = plan.problem.memory_per_rank;
    std::int64_t needed = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank)
        needed = std::max(needed, plan_memory(schedule, counts, rank).peak(memory));
    if (allowed == 0 || needed <= allowed) return;
    throw Error(ErrorCode::infeasible,
                "on this graph a rank needs " + enough_memory_text(needed) + ", and the plan was made for " +
                    memory_text(allowed),
                "memory", "plan again with `graph` and this path");
}

}  // namespace gnnplan::deploy
