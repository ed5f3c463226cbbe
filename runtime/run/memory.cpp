#include "runtime/run/memory.hpp"

#include "planner/catalog/host.hpp"
#include "runtime/deploy/fitting.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/base/out_of_memory.hpp>
#include <gnnplan/ir/memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace gnnplan::run {
namespace {

// `who`: "2 ranks here need 213 MiB each".
void require(std::int64_t needed, const std::string& who) {
    const std::int64_t memory = catalog::read_host().memory_bytes;
    if (needed > memory) throw memory_error(fmt::format("{}, this machine allows {} in all", who, memory_text(memory)));
}

std::string needs(int ranks, std::int64_t bytes) {
    return ranks == 1 ? fmt::format("1 rank here needs {}", memory_text(bytes))
                      : fmt::format("{} ranks here need {} each", ranks, memory_text(bytes));
}

// The bytes of all threads of a process together, at the moment when they have most.
std::int64_t bytes_of_threads(const Plan& plan, int candidate, const data::Dataset& dataset, std::int64_t features) {
    const auto& [configuration, schedule, predicted] = plan.candidates[static_cast<std::size_t>(candidate)];
    const std::int64_t ranks = plan.problem.ranks;
    const exec::GraphCounts graph = deploy::counts_of(dataset);
    const std::int64_t scales = 16 * graph.vertices();  // a rank's own
    const std::int64_t shared = load_bytes(graph) - scales;
    // Partitioning the graph or drawing batches to count exactly would take too long, so this is a lower bound.
    if (schedule.numbering.parts > 1 || schedule.numbering.batches)
        return checked_multiply(ranks, predicted.peak_bytes_per_rank) - (ranks - 1) * shared + features;
    const auto counts = deploy::counts_for(schedule, dataset);
    std::int64_t cutting = features + shared;
    std::int64_t running = features;
    for (int rank = 0; rank < ranks; ++rank) {
        const MemoryPlan memory = plan_memory(schedule, *counts, rank);
        const std::int64_t blocks = memory.adjacency_bytes + memory.request_bytes + memory.output_vertex_bytes;
        cutting += blocks + scales + memory.order_bytes;
        running += blocks + memory.arena_bytes + memory.kept_bytes() - (memory.keeps_graph ? shared : 0);
    }
    return std::max(cutting, running);
}

}  // namespace

void check_memory(const Plan& plan, int candidate, int ranks_here) {
    const Prediction& predicted = plan.candidates[static_cast<std::size_t>(candidate)].predicted;
    if (plan.machine.accelerators || predicted.estimate) return;
    require(checked_multiply(predicted.peak_bytes_per_rank, ranks_here),
            needs(ranks_here, predicted.peak_bytes_per_rank));
}

void check_memory_of_threads(const Plan& plan, int candidate, const data::Dataset* dataset) {
    const ProblemRecord& problem = plan.problem;
    if (problem.ranks == 1) return dataset == nullptr ? check_memory(plan, candidate, 1) : void();
    const auto& [configuration, schedule, predicted] = plan.candidates[static_cast<std::size_t>(candidate)];
    if (plan.machine.accelerators || predicted.estimate) return;
    const std::int64_t features = checked_multiply(4 * problem.graph.vertices, problem.model.widths.front());
    const bool whole = schedule.loading == Loading::whole;
    if (dataset == nullptr) {
        const int ranks = whole ? 1 : problem.ranks;
        const std::int64_t peak = predicted.peak_bytes_per_rank;
        require(checked_add(checked_multiply(peak, ranks), features),
                fmt::format("{}, and {} of features beside", needs(ranks, peak), memory_text(features)));
    } else if (whole) {
        const std::int64_t all = bytes_of_threads(plan, candidate, *dataset, features);
        require(all, fmt::format("{} ranks as threads need {} together", problem.ranks, memory_text(all)));
    }
}

}  // namespace gnnplan::run
