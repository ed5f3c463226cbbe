#include "runtime/infer/infer.hpp"

#include "runtime/train/deployment.hpp"
#include "runtime/train/device_room.hpp"
#include "runtime/train/match.hpp"
#include "runtime/train/trials.hpp"

#include <memory>
#include <optional>

namespace gnnplan::infer {
namespace {

RunReport run(comm::Communicator& comm, kernels::Device& device, const Plan& plan, const data::Dataset& dataset,
              const train::TrainOptions& options, const train::TrainHooks& hooks, measure::Clock& clock) {
    const double begin = clock.now();
    kernels::set_threads(options.threads);
    train::Deployment deployment(comm, device, plan, dataset, options, hooks, clock);
    RunReport report;
    const std::optional<train::DeviceRoom> room = train::device_room(comm, device);
    comm::agree(comm, [&] {
        deployment.take_graph();
        const std::vector<int> usable = train::usable_candidates(plan, options, &dataset);
        report.chosen = train::candidates_that_fit(plan, usable, dataset, device.memory(), room).front();
    });
    deployment.build(report.chosen, true);
    const double built = clock.now();
    train::Measurements& measured = deployment.measured();
    measured.epoch.add(deployment.run(Phase::epoch, 0, false));
    const double done = clock.now();
    const std::vector<double> slowest = comm::control_max(comm, {built - begin, done - built});
    measured.steady_seconds.push_back(slowest[1]);
    if (hooks.outputs) hooks.outputs(deployment.executor(), deployment.output_rows());

    report.task = Task::infer;
    report.seed = options.seed;
    report.ranks = comm.size();
    report.threads = options.threads;
    report.fingerprints = plan.fingerprints;
    report.fingerprints.graph = dataset.fingerprint();
    report.wall = WallTimes{.load_seconds = options.load_seconds,
                            .setup_seconds = slowest[0],
                            .pass_seconds = slowest[1],
                            .total_seconds = options.load_seconds + clock.now() - begin};
    deployment.report(report);
    return report;
}

}  // namespace

RunReport infer(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset,
                const train::TrainOptions& options, const train::TrainHooks& hooks, measure::Clock& clock) {
    std::unique_ptr<kernels::Device> device;
    comm::agree(comm, [&] { device = options.device(); });
    const auto of_device = options.communicator ? options.communicator(comm, *device) : nullptr;
    return run(of_device ? *of_device : comm, *device, plan, dataset, options, hooks, clock);
}

}  // namespace gnnplan::infer
