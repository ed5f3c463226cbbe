#include "tools/gnnplan/probe_machine.hpp"

#include "planner/catalog/host.hpp"
#include "planner/catalog/reference_machine.hpp"
#include "planner/cost/rescale.hpp"
#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"
#include "runtime/calibrate/probe.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/place/place.hpp"
#include "tools/ask/calibration.hpp"
#include "tools/text/probe_text.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace gnnplan::tools {
namespace {

void check_comparable(const Machine& machine, const ProfileFingerprint& here) {
    if (machine.measured && machine.accelerators) {
        throw Error(ErrorCode::usage, fmt::format("the profile {} is of GPUs, and processors are probed", machine.name),
                    "--probe", "leave it out, or measure again: gnnplan calibrate --backend cuda");
    }
    const auto reference = machine.calibration ? machine.calibration->probe : std::nullopt;
    if (!machine.measured || !reference) {
        throw Error(ErrorCode::usage,
                    fmt::format("the profile {} has no figures of a probe, which this machine could be compared with",
                                machine.name),
                    "--probe",
                    machine.measured ? "measure it again: gnnplan calibrate"
                                     : "plan for this machine as gnnplan calibrate measures it, without --machine");
    }
    if (reference->cpu == here.cpu && reference->cores == here.cores) return;
    throw Error(ErrorCode::mismatch,
                fmt::format("the profile {} is of another machine ({}, {} cores) than this one ({}, {} cores)",
                            machine.name, reference->cpu, reference->cores, here.cpu, here.cores),
                "--probe", "plan on that machine, or leave --probe out");
}

bool probes_unasked() {
    const char* said = std::getenv("GNNPLAN_PROBE");
    return said == nullptr || std::string_view(said) != "off";
}

std::optional<Machine> kept_probe(int ranks) {
    for (const KeptCalibration& kept : kept_probes()) {
        if (kept.stale.empty() && kept.profile.machine.ranks_per_node == ranks) return kept.profile.machine;
    }
    return std::nullopt;
}

// Nothing is lost where it cannot be kept but the second or two that it took.
void keep_probe(const Profile& probed) {
    try {
        io::write_file_atomically(make_calibration_folder() + "/" + io::probe_file(probed), io::write_profile(probed));
    } catch (const Error&) {
    }
}

Profile probe_profile(int ranks, std::int64_t memory_per_rank) {
    constexpr std::int64_t share = 8;  // of a rank's memory
    constexpr std::int64_t most = std::int64_t{256} << 20;
    const ProbedHere now = probe_here(ranks, 1, std::min(most, memory_per_rank / share));
    Profile profile;
    ProfileFingerprint& print = profile.fingerprint.emplace(fingerprint_here(false));
    print.ranks = ranks;
    Machine machine = catalog::reference_machine();
    machine.ranks_per_node = ranks;
    machine.memory_per_rank = memory_per_rank;
    const ProbeFigures implied = cost::implied_figures(machine, now.figures.largest_bytes);
    machine.calibration->threads = 1;
    machine.calibration->processes = false;
    machine.calibration->probe = ProbeReference{"", 1, implied, implied, implied};
    profile.machine = cost::rescaled(machine, now.figures);
    profile.machine.name = "probed";
    profile.machine.source =
        fmt::format("rates of this machine were probed for {:.1f} s on {}; gnnplan calibrate measures them all",
                    now.seconds, print.date.substr(0, print.date.find('T')));
    return profile;
}

}  // namespace

ProbedHere probe_here(int ranks, int threads, std::int64_t largest) {
    measure::SteadyClock clock;
    ProbedHere probed;
    const double start = clock.now();
    comm::run_ranks(ranks, [&](comm::Communicator& comm) {
        kernels::set_threads(threads);
        place::bind_threads(comm, threads);
        measure::SteadyClock own;
        const calibrate::Nodes nodes = calibrate::find_nodes(comm, 0);
        const auto processor = kernels::host_device(kernels::cpu_table());
        calibrate::Probe probe({comm, own, *processor, calibrate::probe_effort}, nodes, largest);
        const ProbeFigures figures = probe.measure();
        if (comm.rank() == 0) probed.figures = figures;
    });
    probed.seconds = clock.now() - start;
    return probed;
}

// Threads exchange as threads do: between processes, messages follow copies.
RescaledHere rescaled_here(const Machine& machine) {
    const ProfileFingerprint here = fingerprint_here(false);
    check_comparable(machine, here);
    const Calibration& calibration = *machine.calibration;
    const int threads = calibration.threads.value_or(1);
    const int ranks = std::min(machine.ranks_per_node, std::max(1, here.cores / threads));
    const ProbeFigures& then = *cost::probed_state(machine);
    ProbedHere now = probe_here(ranks, threads, then.largest_bytes);
    if (calibration.processes.value_or(false)) now.figures.exchange_bytes_per_second.reset();
    return {cost::rescaled(machine, now.figures),
            fmt::format("this machine was probed for {:.1f} s: {}; predictions are rescaled", now.seconds,
                        change_text(then, now.figures))};
}

std::optional<RescaledHere> probed_machine(std::int64_t ranks) {
    if (!probes_unasked()) return std::nullopt;
    const catalog::Host host = catalog::read_host();
    const auto in_node = static_cast<int>(std::min<std::int64_t>(ranks, host.cores));
    if (std::optional<Machine> kept = kept_probe(in_node)) return RescaledHere{std::move(*kept), ""};
    const Profile probed = probe_profile(in_node, host.memory_bytes / in_node);
    keep_probe(probed);
    return RescaledHere{probed.machine, probed.machine.source};
}

}  // namespace gnnplan::tools
