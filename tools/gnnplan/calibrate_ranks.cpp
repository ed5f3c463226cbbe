#include "tools/gnnplan/calibrate_ranks.hpp"

#include "planner/calibrate/fit.hpp"
#include "planner/calibrate/residual.hpp"
#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "runtime/calibrate/calibrate.hpp"
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
#include <utility>

namespace gnnplan::tools {
namespace {

calibrate::Scope scope_of(const CalibrateOptions& options, std::int64_t memory_per_rank, bool speaks) {
    constexpr std::int64_t share = 8;  // several operands of the largest size at once
    const std::int64_t largest = std::min(options.largest, memory_per_rank / share);
    if (speaks && largest < options.largest) {
        say_notes({fmt::format("--largest {} is cut to {}, an eighth of a rank's memory",
                               format_memory(options.largest), format_memory(largest))});
    }
    calibrate::Scope scope = options.quick ? calibrate::quick_scope(largest) : calibrate::full_scope(largest);
    if (options.seconds) {
        scope.effort.seconds = *options.seconds;
        scope.limit = 0;
    }
    return scope;
}

std::string source_of(const ProfileFingerprint& print, const calibrate::Nodes& nodes, const Machine& base) {
    const bool alone = nodes.of_rank.size() == 1;
    const std::string links = alone               ? "links taken over from " + base.name
                              : print.mpi.empty() ? "links are those of threads of one process"
                                                  : "links of " + print.mpi;
    std::string source =
        fmt::format("gnnplan calibrate, {}: {}, {} rank{} of {} thread{}, all busy; {}", print.date,
                    print.cpu.empty() ? "unknown CPU" : print.cpu, print.ranks, print.ranks == 1 ? "" : "s a node",
                    print.threads, print.threads == 1 ? "" : "s", links);
    if (!alone && nodes.count == 1) source += "; link between nodes taken over from " + base.name;
    if (nodes.ranks_per_node() == 1 && nodes.count > 1) source += "; link within a node taken over from " + base.name;
    return source;
}

// Collective; the same on every rank.
calibrate::Measured measure(const calibrate::Setting& setting, const calibrate::Nodes& nodes,
                            const calibrate::Scope& scope, int threads) {
    const bool speaks = setting.comm.rank() == 0;
    CalibrationProgress progress(!speaks || is_quiet(), scope.limit, setting.clock);
    calibrate::Measured measured = calibrate::measure_all(
        setting, nodes, scope,
        [&](const std::string& what, std::size_t done, std::size_t total) { progress.show(what, done, total); });
    measured.samples.push_back(measure_step(setting, threads));
    if (speaks && measured.left_out > 0) {
        say_notes(
            {fmt::format("{} of {} points were left out after {:.0f} s; gnnplan calibrate without --quick measures "
                         "them all",
                         measured.left_out, measured.points, scope.limit)});
    }
    return measured;
}

// The machine as its samples and pilots say.
Machine machine_of(const Profile& profile, const calibrate::Measured& measured, const calibrate::Nodes& nodes) {
    const Machine base = catalog::find_machine("cpu-node");
    const ProfileFingerprint& fingerprint = profile.fingerprint.value();
    Machine machine = calibrate::fit_with_errors(base, profile.samples);
    machine.calibration->threads = fingerprint.threads;
    machine.calibration->processes = !fingerprint.mpi.empty();
    ProbeReference& probe = machine.calibration->probe.emplace(calibrate::reference_of(measured.pilots));
    probe.cpu = fingerprint.cpu;
    probe.cores = fingerprint.cores;
    machine.name = "calibrated";
    machine.source = source_of(fingerprint, nodes, base);
    machine.measured = true;
    machine.ranks_per_node = nodes.ranks_per_node();
    return machine;
}

}  // namespace

Calibrated calibrate_ranks(comm::Communicator& comm, const CalibrateOptions& options, bool with_mpi) {
    calibrate::SystemLoad system;
    const calibrate::Nodes nodes = calibrate::find_nodes(comm, static_cast<int>(options.ranks_per_node.value_or(0)));
    if (!options.force) check_cores(comm, nodes, with_mpi, static_cast<int>(options.threads));
    // As gnnrun does, whose times a profile predicts.
    const auto threads = static_cast<int>(options.threads);
    kernels::set_threads(threads);
    if (options.bind == "on") {
        const place::Placement placement = place::bind_threads(comm, threads);
        if (placement.warning && comm.rank() == 0) say("warning: {}\n", placement.note);
    }
    measure::SteadyClock clock;
    const std::int64_t memory = catalog::read_host().memory_bytes / nodes.ranks_per_node();
    const calibrate::Scope scope = scope_of(options, memory, comm.rank() == 0);
    const calibrate::Setting setting{comm, clock, kernels::cpu_table(), scope.effort};

    Calibrated calibrated;
    Profile& profile = calibrated.profile;
    const calibrate::LoadReading before = system.read();
    calibrate::Measured measured = measure(setting, nodes, scope, threads);
    profile.samples = std::move(measured.samples);
    ProfileFingerprint& fingerprint = profile.fingerprint.emplace(fingerprint_here(with_mpi));
    fingerprint.ranks = nodes.ranks_per_node();
    fingerprint.threads = threads;
    profile.machine = machine_of(profile, measured, nodes);
    profile.machine.memory_per_rank = memory;
    profile.epoch_steps = measure_epochs(setting, profile.machine, {options.quick, scope.largest});
    calibrate::correct(profile);
    calibrated.load = told_load(calibrate::load_between(comm, nodes, with_mpi, before, system.read()));
    if (too_busy(calibrated.load)) profile.machine.calibration->busy = calibrated.load.others;
    return calibrated;
}

}  // namespace gnnplan::tools
