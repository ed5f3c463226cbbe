#include "tests/integration/run_schedule.hpp"

#include "runtime/comm/threads.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/exec/graph_counts.hpp"

namespace gnnplan::testing {
namespace {

exec::PassSettings pass_settings(const TestProblem& problem, std::uint32_t epoch, bool training) {
    exec::PassSettings settings;
    settings.seed = run_seed;
    settings.epoch = epoch;
    settings.training = training;
    settings.dropout = problem.network().dropout;
    settings.input_dropout = problem.network().input_dropout;
    settings.attention_dropout = problem.network().attention_dropout;
    settings.inverse_training_count = 1.0 / static_cast<double>(problem.dataset().known_labels(data::train));
    settings.update.weight_decay = static_cast<float>(run_weight_decay);
    return settings;
}

// Copies what a step has made of running means and variances, to which no gradient belongs.
void keep_running(const Step& step, const exec::Executor& executor, RankEpoch& epoch) {
    const auto* norm = std::get_if<BatchNormStep>(&step.operation);
    if (norm == nullptr) return;
    const Schedule& schedule = executor.schedule();
    for (const TensorId id : norm->running) {
        const Tensor& running = tensor_of(schedule, id);
        const auto values = executor.values(running.name);
        const std::size_t at = place_of(schedule.parameters, *running.parameter).at;
        epoch.bias[at].assign(values.begin(), values.end());
        epoch.bias_gradient[at].assign(values.size(), 0.0F);
    }
}

// Copies what an update step used and made.
void keep_update(const Step& step, const exec::Executor& executor, RankEpoch& epoch) {
    keep_running(step, executor, epoch);
    const auto* update = std::get_if<UpdateStep>(&step.operation);
    if (update == nullptr) return;
    const Schedule& schedule = executor.schedule();
    const Tensor& weight = tensor_of(schedule, update->weight);
    const auto gradient = executor.values(tensor_of(schedule, update->gradient).name);
    const auto updated = executor.values(weight.name);
    const auto [bias, at] = place_of(schedule.parameters, *weight.parameter);
    (bias ? epoch.bias_gradient : epoch.weight_gradient)[at].assign(gradient.begin(), gradient.end());
    (bias ? epoch.bias : epoch.weight)[at].assign(updated.begin(), updated.end());
}

// The first step of epochs from number `i` on; null behind the last one.
const Step* epoch_step_from(const Schedule& schedule, std::size_t i) {
    while (i < schedule.steps.size() && schedule.steps[i].phase != Phase::epoch) ++i;
    return i < schedule.steps.size() ? &schedule.steps[i] : nullptr;
}

// Runs the steps of an epoch, or of a pass.
std::vector<measure::StepSample> run_steps(exec::Executor& executor, const exec::PassSettings& settings,
                                           const StepAhead& ahead, const exec::Executor::Observer& behind) {
    const Schedule& schedule = executor.schedule();
    if (ahead) ahead(epoch_step_from(schedule, 0));
    return executor.run(Phase::epoch, settings, [&](const Step& step, const exec::Executor& e) {
        if (behind) behind(step, e);
        if (ahead) ahead(epoch_step_from(schedule, static_cast<std::size_t>(&step - schedule.steps.data()) + 1));
    });
}

RankEpoch run_epoch(const TestProblem& problem, exec::Executor& executor, std::uint32_t epoch, const StepAhead& ahead) {
    RankEpoch kept;
    const Parameters initial = initial_parameters(problem.serial(), run_seed);
    for (auto* values : {&kept.weight_gradient, &kept.weight}) values->resize(initial.weight.size());
    for (auto* values : {&kept.bias_gradient, &kept.bias}) values->resize(initial.bias.size());
    const exec::PassSettings settings = pass_settings(problem, epoch, true);
    kept.steps = run_steps(executor, settings, ahead,
                           [&](const Step& step, const exec::Executor& e) { keep_update(step, e, kept); });
    kept.loss = executor.loss_sum() * settings.inverse_training_count;
    return kept;
}

void infer(const TestProblem& problem, exec::Executor& executor, const StepAhead& ahead, RankRun& run) {
    RankEpoch& pass = run.epochs.emplace_back();
    pass.steps = run_steps(executor, pass_settings(problem, 0, false), ahead, {});
    const Tensor& output = tensor_of(executor.schedule(), *executor.schedule().output);
    run.outputs = executor.values(output.name);
    const Range rows = executor.block(output.name).rows;
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
        run.vertices.push_back(run.counts->order().vertex_at(row));
}

// Bytes the loaded graph and its scales take while blocks are cut.
std::int64_t loaded_bytes(const data::Graph& graph, const data::DegreeScales& scales) {
    std::size_t bytes = (scales.source.size() + scales.target.size()) * sizeof(scales.source[0]);
    const auto add = [&](const data::Csr& csr) {
        bytes += csr.row_start.size() * sizeof(csr.row_start[0]) + csr.column.size() * sizeof(csr.column[0]) +
                 csr.weight.size() * sizeof(csr.weight[0]);
    };
    add(graph.out), add(graph.in);
    for (const data::Csr& drawn : graph.drawn) add(drawn);
    return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::shared_ptr<const exec::GraphCounts> numbered_counts(const TestProblem& problem, const Schedule& schedule) {
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    return std::dynamic_pointer_cast<const exec::GraphCounts>(counts.numbered(schedule.numbering));
}

RankRun run_rank(const TestProblem& problem, const Schedule& schedule, int epochs, const kernels::Table& kernels,
                 comm::Communicator& comm, const std::optional<DeviceKind>& on, const StepAhead& ahead) {
    kernels::set_threads(1);
    const data::Graph& graph = problem.dataset().graph();
    const auto counts = numbered_counts(problem, schedule);
    measure::SteadyClock clock;
    RankRun run;
    const auto device = on ? on->open() : kernels::host_device(kernels);
    const auto of_device = on ? on->communicator(comm, *device) : nullptr;
    exec::MemoryTracker tracker(device->memory().accelerator);
    exec::Executor executor(schedule, counts, of_device ? *of_device : comm, *device, tracker, clock);
    run.counts = counts;
    {
        const data::DegreeScales scales = data::stored_scales(graph, problem.network().matrix.normalisation);
        const exec::Charge loaded(tracker, loaded_bytes(graph, scales), exec::Holder::host);
        exec::CloneScales scales_of_groups;
        exec::Charge cloned;
        if (counts->clones() != nullptr) {
            scales_of_groups =
                exec::scales_of_clones(*counts->clones(), scales, problem.network().matrix.normalisation);
            cloned = exec::Charge(tracker, loaded_bytes({}, scales_of_groups.scales), exec::Holder::host);
        }
        executor.build_blocks(graph, scales, scales_of_groups);
    }
    const exec::ModelState state(schedule, run_seed, *device, tracker);
    executor.allocate(state);
    executor.fill(problem.dataset());
    run.setup = executor.run(Phase::setup, pass_settings(problem, 0, true));
    if (schedule.output) {
        infer(problem, executor, ahead, run);
    } else {
        for (int epoch = 1; epoch <= epochs; ++epoch) {
            run.epochs.push_back(run_epoch(problem, executor, static_cast<std::uint32_t>(epoch), ahead));
        }
        executor.drain();
        run.evaluation = executor.run(Phase::evaluation, pass_settings(problem, 0, false));
        run.found.assign(executor.counts().begin(), executor.counts().end());
        run.valid_loss = run.found.back();
        run.found.pop_back();
        run.ranks.assign(executor.rank_sums().begin(), executor.rank_sums().end());
    }
    const MemoryPlan memory = plan_memory(schedule, *counts, comm.rank());
    const bool on_host = !device->memory().accelerator;
    run.predicted_peak =
        memory.peak(device->memory()) - (on_host ? memory.output_vertex_bytes : 0);  // nothing is written
    run.allocated_peak = tracker.peak();
    if (!on_host) run.predicted_host_peak = memory.host_peak(cut_bytes(schedule, *counts, comm.rank()), 0);
    run.allocated_host_peak = tracker.host_peak();
    return run;
}

std::vector<RankRun> run_schedule(const TestProblem& problem, const Schedule& schedule, int epochs,
                                  const kernels::Table& kernels, const std::optional<DeviceKind>& on) {
    std::vector<RankRun> runs(static_cast<std::size_t>(schedule.grid.size()));
    comm::run_ranks(schedule.grid.size(), [&](comm::Communicator& comm) {
        runs[static_cast<std::size_t>(comm.rank())] = run_rank(problem, schedule, epochs, kernels, comm, on);
    });
    return runs;
}

}  // namespace gnnplan::testing
