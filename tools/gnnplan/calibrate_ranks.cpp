#include "tools/gnnplan/calibrate_ranks.hpp"

#include "planner/calibrate/fit.hpp"
#include "planner/calibrate/residual.hpp"
#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "runtime/calibrate/calibrate.hpp"
#include "runtime/comm/device_exchange.hpp"
#include "runtime/place/place.hpp"
#include "tools/ask/calibration.hpp"
#include "tools/gnnplan/calibrate_epochs.hpp"
#include "tools/gnnplan/calibrate_load.hpp"
#include "tools/gnnplan/calibrate_output.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"
#include "tools/text/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::int64_t usual_largest = std::int64_t{256} << 20, usual_largest_of_device = std::int64_t{2} << 30;

calibrate::Scope scope_of(const CalibrateOptions& options, bool of_device, std::int64_t memory_per_rank, bool speaks) {
    constexpr std::int64_t share = 8;  // several operands of the largest size at once
    const std::int64_t most = memory_per_rank / share;
    if (speaks && options.largest > most) {
        say_notes({fmt::format("--largest {} is cut to {}, an eighth of a rank's memory",
                               format_memory(options.largest), format_memory(most))});
    }
    const std::int64_t wanted = options.largest > 0 ? options.largest
                                : of_device         ? usual_largest_of_device
                                                    : usual_largest;
    const auto usual = options.quick ? calibrate::quick_scope : calibrate::full_scope;
    const auto usual_of_device = options.quick ? calibrate::quick_device_scope : calibrate::full_device_scope;
    calibrate::Scope scope = (of_device ? usual_of_device : usual)(std::min(wanted, most));
    if (options.seconds) {
        scope.effort.seconds = *options.seconds;
        scope.limit = 0;
    }
    return scope;
}

std::string source_of(const ProfileFingerprint& print, const calibrate::Nodes& nodes, const Machine& base) {
    const bool alone = nodes.of_rank.size() == 1;
    const std::string between =
        print.mpi.empty() ? "links are those of threads of one process" : "links of " + print.mpi;
    const std::string links = alone ? "links taken over from " + base.name
                                    : between + (print.device_exchange ? ", by " + *print.device_exchange : "");
    std::string source =
        fmt::format("gnnplan calibrate, {}: {}, {} rank{} of {} thread{}, all busy; {}", print.date,
                    print.device.value_or(print.cpu.empty() ? "unknown CPU" : print.cpu), print.ranks,
                    print.ranks == 1 ? "" : "s a node", print.threads, print.threads == 1 ? "" : "s", links);
    if (!alone && nodes.count == 1) source += "; link between nodes taken over from " + base.name;
    if (nodes.ranks_per_node() == 1 && nodes.count > 1) source += "; link within a node taken over from " + base.name;
    return source;
}

// Returns a machine with all that measurements do not tell: the rates and links of a preset of this kind, and the
// device's own facts.
Machine base_machine(const kernels::Device& device) {
    Machine base = catalog::find_machine(device.memory().accelerator ? "h100x8" : "cpu-node");
    base.accelerators = device.memory().accelerator;
    base.workspace_bytes = device.memory().workspace_bytes;
    base.blocking = device.blocking();
    base.all_to_all.reset();
    return base;
}

// Sets the memory that each rank has, and how much of a device's is held by what no plan counts: CUDA, its libraries
// and NCCL, all of which have computed by now, and other programs. Collective.
void set_memory(Machine& machine, comm::Communicator& comm, const kernels::Device& device, int ranks_per_node) {
    const std::optional<kernels::FreeMemory> free = device.free_memory();
    machine.reserved_bytes = 0;
    machine.memory_per_rank = catalog::read_host().memory_bytes / ranks_per_node;
    if (!free) return;
    const std::vector<std::string> devices = comm.control_all_gather(free->device);
    const std::int64_t sharing = std::max<std::int64_t>(1, std::ranges::count(devices, free->device));
    const auto most = [&](std::int64_t bytes) {
        return static_cast<std::int64_t>(comm::control_max(comm, static_cast<double>(bytes)));
    };
    machine.memory_per_rank = -most(-free->total_bytes / sharing);
    machine.reserved_bytes =
        std::max(std::int64_t{0}, most((free->total_bytes - free->bytes) / sharing - free->held_bytes));
}

// Measurements, and the machine with all that the devices tell that they were made on.
struct FromDevices {
    calibrate::Measured measured;
    Machine base;
    std::optional<std::string> device{};  // none: the processor
    std::int64_t largest = 0;             // bytes of an operand of either
};

// Collective; the same on every rank.
FromDevices measure(const TrainingRanks& ranks, const CalibrateOptions& options) {
    std::unique_ptr<kernels::Device> device;
    comm::agree(ranks.hosts, [&] { device = ranks.device(); });
    const auto exchange = ranks.communicator ? ranks.communicator(ranks.hosts, *device) : nullptr;
    comm::Communicator& comm = exchange ? *exchange : ranks.hosts;
    FromDevices found{{}, base_machine(*device)};
    const bool of_device = found.base.accelerators, speaks = comm.rank() == 0;
    if (of_device) found.device = device->name();
    {
        const calibrate::Nodes nodes =
            calibrate::find_nodes(comm, static_cast<int>(options.ranks_per_node.value_or(0)));
        set_memory(found.base, comm, *device, nodes.ranks_per_node());
        const calibrate::Scope scope = scope_of(options, of_device, found.base.memory_per_rank, speaks);
        found.largest = std::min(scope.largest, usual_largest);
        const calibrate::Setting setting{comm, ranks.clock, *device, scope.effort};
        CalibrationProgress progress(!speaks || is_quiet(), scope.limit, ranks.clock);
        found.measured = calibrate::measure_all(
            setting, nodes, scope,
            [&](const std::string& what, std::size_t done, std::size_t total) { progress.show(what, done, total); });
        if (speaks && found.measured.left_out > 0) {
            say_notes(
                {fmt::format("{} of {} points were left out after {:.0f} s; gnnplan calibrate without --quick "
                             "measures them all",
                             found.measured.left_out, found.measured.points, scope.limit)});
        }
        set_memory(found.base, comm, *device, nodes.ranks_per_node());
    }
    return found;
}

// The machine as its samples and pilots say.
Machine machine_of(const Profile& profile, const FromDevices& found, const calibrate::Nodes& nodes) {
    const ProfileFingerprint& fingerprint = profile.fingerprint.value();
    Machine machine = calibrate::fit_with_errors(found.base, profile.samples);
    machine.calibration->threads = fingerprint.threads;
    machine.calibration->processes = !fingerprint.mpi.empty();
    ProbeReference& probe = machine.calibration->probe.emplace(calibrate::reference_of(found.measured.pilots));
    probe.cpu = fingerprint.cpu;
    probe.cores = fingerprint.cores;
    machine.name = "calibrated";
    machine.source = source_of(fingerprint, nodes, found.base);
    machine.measured = true;
    machine.ranks_per_node = nodes.ranks_per_node();
    return machine;
}

ProfileFingerprint fingerprint_of(const CalibrateOptions& options, const FromDevices& found, bool with_mpi) {
    ProfileFingerprint print = fingerprint_here(with_mpi, found.device ? options.backend : "");
    print.threads = static_cast<int>(options.threads);
    print.device = found.device;
    return print;
}

// Beside other programs a device that they hold memory of is not as fast, and not as large.
void note_reserve(const Machine& machine) {
    constexpr std::int64_t share = 16;
    if (machine.reserved_bytes * share <= machine.memory_per_rank) return;
    say("warning: {} of the device's memory are held by what no plan counts: is another program there?\n",
        format_memory(machine.reserved_bytes));
}

// As gnnrun does, whose times a profile predicts.
place::Placement place_threads(comm::Communicator& comm, const CalibrateOptions& options) {
    const auto threads = static_cast<int>(options.threads);
    kernels::set_threads(threads);
    if (options.bind != "on") return {};
    place::Placement placement = place::bind_threads(comm, threads);
    if (placement.warning && comm.rank() == 0) say("warning: {}\n", placement.note);
    return placement;
}

// `name` becomes that of the way.
comm::OpenCommunicator exchange_of(const CalibrateOptions& options, const place::Placement& placement,
                                   std::optional<std::string>& name) {
    return [&](comm::Communicator& hosts, kernels::Device& device) {
        const place::Unbound unbound(placement);
        const bool alone = hosts.size() == 1;
        comm::DeviceExchange opened =
            comm::open_device_exchange(alone ? "auto" : options.device_exchange, hosts, device);
        if (!alone) name = opened.name;
        return std::move(opened.communicator);
    };
}

}  // namespace

Calibrated calibrate_ranks(comm::Communicator& comm, const CalibrateOptions& options, const kernels::Backend& backend,
                           bool with_mpi) {
    calibrate::SystemLoad system;
    const calibrate::Nodes nodes = calibrate::find_nodes(comm, static_cast<int>(options.ranks_per_node.value_or(0)));
    if (!options.force) check_cores(comm, nodes, with_mpi, static_cast<int>(options.threads));
    const place::Placement placement = place_threads(comm, options);
    measure::SteadyClock clock;
    TrainingRanks ranks{comm, clock, static_cast<int>(options.threads),
                        [&] { return backend.open(comm::ranks_here(comm).before_this); }};
    std::optional<std::string> exchange;
    if (!backend.host_memory) ranks.communicator = exchange_of(options, placement, exchange);

    Calibrated calibrated;
    Profile& profile = calibrated.profile;
    const calibrate::LoadReading before = system.read();
    FromDevices found = measure(ranks, options);
    profile.samples = std::move(found.measured.samples);
    profile.samples.push_back(measure_step(ranks, found.base));
    ProfileFingerprint& fingerprint = profile.fingerprint.emplace(fingerprint_of(options, found, with_mpi));
    fingerprint.ranks = nodes.ranks_per_node();
    fingerprint.device_exchange = exchange;
    profile.machine = machine_of(profile, found, nodes);
    if (comm.rank() == 0) note_reserve(profile.machine);
    profile.epoch_steps = measure_epochs(ranks, profile.machine, {options.quick, found.largest});
    calibrate::correct(profile);
    calibrated.load = told_load(calibrate::load_between(comm, nodes, with_mpi, before, system.read()));
    if (too_busy(calibrated.load)) profile.machine.calibration->busy = calibrated.load.others;
    return calibrated;
}

}  // namespace gnnplan::tools
