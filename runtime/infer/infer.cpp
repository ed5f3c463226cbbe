#include "runtime/infer/infer.hpp"

#include "runtime/deploy/deployment.hpp"
#include "runtime/deploy/device_room.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/match.hpp"

#include <algorithm>
#include <cstddef>
#include <gnnplan/base/at.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::infer {
namespace {

// Follows the steps of the pass: it hands on the outputs of a layer as soon as they are computed, keeps the time that
// this took, and ends the pass when it is told to stop.
class Layers {
public:
    Layers(comm::Communicator& comm, const InferHooks& hooks, measure::Clock& clock)
        : comm_(comm), hooks_(hooks), clock_(clock), watched_(hooks) {
        watched_.step = [this](std::int64_t epoch, const Step& step, const exec::Executor& executor) {
            if (hooks_.step) hooks_.step(epoch, step, executor);
            const auto index = static_cast<std::size_t>(&step - executor.schedule().steps.data());
            if (hooks_.layer) hand_on(index, executor);
            if (index != last_step_) stop_if_told();
        };
    }

    const InferHooks& hooks() const { return watched_; }
    double seconds() const { return seconds_; }

    // The first step behind `done` layers.
    std::size_t begin(const Schedule& schedule, int done) {
        for (std::size_t i = 0; i < schedule.steps.size(); ++i)
            if (schedule.steps[i].phase == Phase::epoch) last_step_ = i;
        if (!hooks_.layer) return 0;
        ends_ = deploy::layer_ends(schedule);
        return done > 0 ? ends_.at(static_cast<std::size_t>(done - 1)).step + 1 : 0;
    }
    // Collective: reads the outputs of the last layer that is done.
    void read(int done, exec::Executor& executor, const deploy::OutputRows& rows) {
        rows_ = &rows;
        if (done > 0) hooks_.read_layer(executor, ends_.at(static_cast<std::size_t>(done - 1)).tensor, rows);
    }
    // Collective.
    void stop_if_told() const {
        const std::optional<std::string> why = hooks_.stop ? hooks_.stop() : std::nullopt;
        if (comm::control_max(comm_, why ? 1 : 0) == 0) return;
        throw EndOfPass{Ending::interrupted, why.value_or("another rank was told to stop")};
    }

private:
    void hand_on(std::size_t step, const exec::Executor& executor) {
        for (std::size_t l = 0; l < ends_.size(); ++l) {
            if (ends_[l].step != step) continue;
            const double start = clock_.now();
            hooks_.layer(static_cast<int>(l) + 1, executor, ends_[l].tensor, *rows_);
            seconds_ += clock_.now() - start;
        }
    }

    comm::Communicator& comm_;
    const InferHooks& hooks_;
    measure::Clock& clock_;
    InferHooks watched_;
    std::vector<deploy::LayerEnd> ends_;
    std::size_t last_step_ = 0;
    const deploy::OutputRows* rows_ = nullptr;
    double seconds_ = 0;
};

// Steps that were not run are in no report.
void leave_out(const Schedule& schedule, std::size_t first_step, RunReport& report) {
    const auto begin = schedule.steps.begin();
    const auto skipped = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(first_step),
                                       [](const Step& step) { return step.phase == Phase::epoch; });
    if (skipped == 0) return;
    report.steps.erase(report.steps.begin(), report.steps.begin() + skipped);
    report.predicted.epoch_seconds = 0;
    for (const StepRecord& step : report.steps) report.predicted.epoch_seconds += step.predicted_seconds;
}

deploy::Use use_of(const InferOptions& options, const InferHooks& hooks) {
    exec::PassSettings passes;
    passes.seed = options.seed;
    using deploy::Written;
    return {passes, options.weights, false,
            hooks.layer     ? Written::layers
            : hooks.outputs ? Written::outputs
                            : Written::nothing};
}

// Runs the pass, or as much of it as there is until it is told to end, which the report then says.
void make_pass(deploy::Deployment& deployment, const Layers& layers, kernels::Device& device, RunReport& report) {
    deploy::Measurements& measured = deployment.measured();
    try {
        layers.stop_if_told();
        measured.epoch.add(deployment.run(Phase::epoch, 0, false));
    } catch (const EndOfPass& end) {
        device.finish();
        measured.epoch.add(std::vector<measure::StepSample>(deployment.executor().schedule().steps.size()));
        report.ending = end.ending;
        report.ended = end.why;
    }
}

// Reports the question.
void describe(const Plan& plan, const InferOptions& options, RunReport& report) {
    report.task = Task::infer;
    report.fanout = plan.problem.fanout;
    report.seed = options.seed;
    report.ranks = plan.problem.ranks;
    report.threads = options.threads;
    report.fingerprints = plan.fingerprints;
    if (options.layers_done > 0) report.resumed_after = options.layers_done;
}

RunReport run(comm::Communicator& hosts, comm::Communicator& comm, kernels::Device& device, const Plan& plan,
              const data::Dataset& dataset, const InferOptions& options, const InferHooks& hooks,
              measure::Clock& clock) {
    const double begin = clock.now();
    kernels::set_threads(options.threads);
    Layers layers(comm, hooks, clock);
    deploy::Deployment deployment(hosts, comm, device, plan, dataset, options, layers.hooks(), clock,
                                  use_of(options, hooks));
    RunReport report;
    std::size_t first_step = 0;
    const std::optional<deploy::DeviceRoom> room = deploy::device_room(comm, device);
    comm::agree(comm, [&] {
        deployment.take_graph();
        const std::vector<int> usable = deploy::usable_candidates(plan, 0, &dataset);
        report.chosen = deploy::candidates_that_fit(plan, usable, deployment.counts(), device.memory(), room).front();
        first_step = layers.begin(plan.candidates[at(report.chosen)].schedule, options.layers_done);
    });
    deployment.build(report.chosen, true, first_step);
    layers.read(options.layers_done, deployment.executor(), deployment.output_rows());
    const double built = clock.now();
    make_pass(deployment, layers, device, report);
    const double done = clock.now();
    deploy::Measurements& measured = deployment.measured();
    const double loaded = deployment.share_seconds() + measured.partition_seconds;  // as plans count loading
    const std::vector<double> slowest =
        comm::control_max(comm, {built - begin - loaded, done - built - layers.seconds()});
    measured.steady_seconds.push_back(slowest[1]);
    if (hooks.outputs && !report.ending) hooks.outputs(deployment.executor(), deployment.output_rows());

    describe(plan, options, report);
    report.fingerprints.graph = deployment.fingerprint();
    report.wall = WallTimes{.load_seconds = options.load_seconds + loaded,
                            .setup_seconds = slowest[0],
                            .pass_seconds = slowest[1],
                            .total_seconds = options.load_seconds + clock.now() - begin};
    deployment.report(report);
    const Schedule& schedule = deployment.executor().schedule();
    leave_out(schedule, report.ending ? schedule.steps.size() : first_step, report);
    return report;
}

}  // namespace

RunReport infer(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const InferOptions& options,
                const InferHooks& hooks, measure::Clock& clock) {
    std::unique_ptr<kernels::Device> device;
    comm::agree(comm, [&] { device = options.device(); });
    const auto of_device = options.communicator ? options.communicator(comm, *device) : nullptr;
    return run(comm, of_device ? *of_device : comm, *device, plan, dataset, options, hooks, clock);
}

}  // namespace gnnplan::infer
