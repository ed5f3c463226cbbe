#include "tools/gnnrun/dry_run.hpp"

#include "planner/io/dry_run.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/train/trials.hpp"
#include "tools/text/format.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <fmt/format.h>

#include <optional>

namespace gnnplan::tools {
namespace {

constexpr int tensors_shown = 5;

// The rank that needs most memory.
int busiest_rank(const Schedule& schedule, const GraphStats& graph, const TensorMemory& tensors) {
    int busiest = 0;
    std::int64_t most = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        const std::int64_t peak = plan_memory(schedule, graph, rank).peak(tensors);
        if (peak <= most) continue;
        most = peak;
        busiest = rank;
    }
    return busiest;
}

std::int64_t sent_bytes(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    std::int64_t bytes = 0;
    for (const RankTraffic& traffic : traffic_of(schedule, step, graph)) bytes += traffic.sent_bytes;
    return bytes;
}

const char* name_of(Phase phase, Task task) {
    if (phase == Phase::setup) return "setup";
    if (phase == Phase::evaluation) return "evaluation";
    return task == Task::infer ? "pass" : "epoch";
}

std::optional<std::int64_t> tuning_peak(const Plan& plan, const data::Dataset& dataset,
                                        const train::TrainOptions& options, const TensorMemory& tensors) {
    const std::vector<int> usable = deploy::usable_candidates(plan, options.features_dropout(), &dataset);
    if (plan.problem.task == Task::infer) return std::nullopt;
    if (train::tuning_rules(options.autotune, options.epochs, {}).epochs_each == 0) return std::nullopt;
    const train::Trials trials =
        train::fitting_trials(plan, usable, deploy::counts_of(dataset), plan.problem.ranks > 1, tensors);
    if (trials.trials.size() < 2) return std::nullopt;
    return trials.peak_bytes;
}

// The run as it would be: the first candidate that the options allow, and the memory of the rank that needs most.
struct DryRun {
    DryRun(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
           const TensorMemory& tensors, std::int64_t message_bytes)
        : index(deploy::usable_candidates(plan, options.features_dropout(), &dataset).front()),
          candidate(plan.candidates[static_cast<std::size_t>(index)]),
          counts(exec::GraphCounts(dataset.graph(), dataset.subset()).numbered(candidate.schedule.numbering)),
          rank(busiest_rank(candidate.schedule, *counts, tensors)),
          memory(plan_memory(candidate.schedule, *counts, rank)),
          peak(memory.peak(tensors)),
          host_peak(tensors.accelerator
                        ? memory.host_peak(cut_bytes(candidate.schedule, *counts, rank), memory.output_vertex_bytes) +
                              message_bytes
                        : 0),
          tuning(tuning_peak(plan, dataset, options, tensors)) {}

    int index;
    const Candidate& candidate;
    std::shared_ptr<const GraphStats> counts;
    int rank;
    MemoryPlan memory;
    std::int64_t peak;
    std::int64_t host_peak;              // 0: the peak is the host's
    std::optional<std::int64_t> tuning;  // the most that a rank of several processes holds while candidates are tried
};

// The lines tell the memory of the rank that needs most. The host of a GPU has a peak of its own.
std::string memory_lines(const DryRun& run, const TensorMemory& tensors) {
    const MemoryPlan& memory = run.memory;
    const auto line = [](const char* name, const std::string& value) {
        return fmt::format("  {:<16}{}\n", name, value);
    };
    const std::string loading = line("while loading", format_memory(memory.load_bytes));
    std::string text =
        fmt::format("memory{} of rank {}, which needs most\n", tensors.accelerator ? " of the GPU" : "", run.rank);
    text += tensors.accelerator ? line("workspace", format_memory(tensors.workspace_bytes)) : loading;
    text += line("sparse blocks", format_memory(memory.adjacency_bytes));
    text += line("arena", format_memory(memory.arena_bytes));
    const std::string tried =
        run.tuning ? fmt::format(" (up to {} while candidates are tried)", format_memory(*run.tuning)) : "";
    text += line("peak", format_memory(run.peak) + tried);
    if (!tensors.accelerator) return text;
    return text + "memory of its host\n" + loading + line("peak", format_memory(run.host_peak));
}

}  // namespace

std::string dry_run_text(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
                         const TensorMemory& memory, std::int64_t message_bytes, bool color) {
    const DryRun run(plan, dataset, options, memory, message_bytes);
    const Candidate& candidate = run.candidate;
    const Schedule& schedule = candidate.schedule;
    const Orders& letters = candidate.configuration.backward;
    const std::string backward = letters.empty() ? "" : ", backward " + format_orders(gnnplan::text(letters));

    std::string text =
        fmt::format("candidate {}: forward {}{}, grid {}\n\n", run.index + 1,
                    format_orders(gnnplan::text(candidate.configuration.forward)), backward, schedule.grid.text());
    text += memory_lines(run, memory) + "  largest        ";
    for (const TensorSize& tensor : largest_tensors(schedule, *run.counts, run.rank, tensors_shown)) {
        text += fmt::format(" {} {},", tensor.name, format_memory(tensor.bytes));
    }
    text.back() = '\n';

    Table table({{"phase"}, {"step"}, {"kind"}, {"shape"}, {"bytes", Align::right}, {"time predicted", Align::right}});
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        table.add({name_of(step.phase, plan.problem.task), step.name, std::string(kind_of(step.operation)),
                   fmt::format("{} x {}", subject.rows, subject.columns),
                   format_bytes(sent_bytes(schedule, step, *run.counts)),
                   format_seconds(candidate.predicted.step_seconds[i], plan.machine)});
    }
    return text + "\n" + table.text(color);
}

std::string dry_run_json(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
                         const TensorMemory& memory, std::int64_t message_bytes) {
    const DryRun run(plan, dataset, options, memory, message_bytes);
    const Schedule& schedule = run.candidate.schedule;
    io::DryRunDocument document;
    document.ranks = plan.problem.ranks;
    document.candidate = run.index;
    document.rank = run.rank;
    document.load_bytes = run.memory.load_bytes;
    document.adjacency_bytes = run.memory.adjacency_bytes;
    document.arena_bytes = run.memory.arena_bytes;
    document.peak_bytes = run.peak;
    document.tuning_peak_bytes = run.tuning;
    if (memory.accelerator) document.host_peak_bytes = run.host_peak;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        document.steps.push_back({step.name, name_of(step.phase, plan.problem.task),
                                  std::string(kind_of(step.operation)), sent_bytes(schedule, step, *run.counts),
                                  run.candidate.predicted.step_seconds[i]});
    }
    return io::write_dry_run(document);
}

}  // namespace gnnplan::tools
