// gnnplan calibrate: measures this machine, fits a profile to it and keeps it.
//
// Reading guide: calibrate() is what every rank does; run_in_process() and run_under_mpi() start the ranks.
#include "planner/calibrate/fit.hpp"
#include "planner/calibrate/residual.hpp"
#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"
#include "runtime/calibrate/calibrate.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/threads.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif
#include "runtime/place/place.hpp"
#include "tools/ask/calibration.hpp"
#include "tools/common/options.hpp"
#include "tools/gnnplan/calibrate_epochs.hpp"
#include "tools/gnnplan/calibrate_from.hpp"
#include "tools/gnnplan/calibrate_load.hpp"
#include "tools/gnnplan/calibrate_output.hpp"

#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace gnnplan::tools {
namespace {

struct CalibrateOptions {
    bool quick = false;
    bool force = false;
    std::optional<std::string> output;
    std::optional<std::int64_t> ranks;
    std::int64_t threads = 1;
    std::string bind = "on";
    std::optional<std::int64_t> ranks_per_node;  // by the names of the hosts
    std::int64_t largest = std::int64_t{256} << 20;
    std::optional<double> seconds;
    std::vector<std::string> from;  // reports of runs to learn from, in place of measuring
    bool json = false;
};

// Made sure before long work: the profile can be written, in the folder of those that are kept if nowhere else.
void check_output(const CalibrateOptions& options) {
    io::check_can_create(options.output ? *options.output : make_calibration_folder() + "/machine");
}

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

// A profile, and what was in the way of measuring it.
struct Calibrated {
    Profile profile;
    calibrate::Load load;
};

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

// Collective; the same on every rank.
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
    Machine base = catalog::find_machine("cpu-node");
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
    profile.machine = calibrate::fit_with_errors(base, profile.samples);
    profile.machine.calibration->threads = fingerprint.threads;
    profile.machine.calibration->processes = with_mpi;
    ProbeReference& probe = profile.machine.calibration->probe.emplace(calibrate::reference_of(measured.pilots));
    probe.cpu = fingerprint.cpu;
    probe.cores = fingerprint.cores;
    profile.machine.name = "calibrated";
    profile.machine.source = source_of(fingerprint, nodes, base);
    profile.machine.measured = true;
    profile.machine.ranks_per_node = nodes.ranks_per_node();
    profile.machine.memory_per_rank = memory;
    profile.epoch_steps = measure_epochs(setting, profile.machine, {options.quick, scope.largest});
    calibrate::correct(profile);
    calibrated.load = told_load(calibrate::load_between(comm, nodes, with_mpi, before, system.read()));
    if (too_busy(calibrated.load)) profile.machine.calibration->busy = calibrated.load.others;
    return calibrated;
}

// Whether plans may use the profile without being asked.
bool sound(const CalibrateOptions& options, const calibrate::Load& load) { return options.force || !too_busy(load); }

void report(const Context& context, const CalibrateOptions& options, const Calibrated& calibrated) {
    const auto& [profile, load] = calibrated;
    if (!sound(options, load)) {
        const std::string aside = set_aside(profile, options.output);
        say("warning: {}; the profile is set aside, and plans use it only when asked: --machine {}\n", busy_text(load),
            aside);
        return;
    }
    if (too_busy(load)) say("warning: {}; the profile says so\n", busy_text(load));
    const std::string text = io::write_profile(profile);
    std::optional<std::string> file = options.output;
    if (file) {
        io::write_file_atomically(*file, text);
    } else {
        const auto [kept, note] = keep_calibration(profile);
        if (!note.empty()) say_notes({note});
        file = kept;
    }
    const std::string where = file ? "kept     " + *file + "\n" : "";
    const std::string tables = calibration_text(profile, use_color(context.color)) + noise_line(load, profile.samples);
    print(options.json ? text : tables + where);
}

int exit_code(const CalibrateOptions& options, const calibrate::Load& load) {
    return sound(options, load) ? 0 : static_cast<int>(ErrorCode::answer_no);
}

int run_in_process(const Context& context, const CalibrateOptions& options) {
    comm::refuse_lone_rank(fingerprint_here(true).mpi);
    check_output(options);
    const int cores = catalog::read_host().cores;
    const auto ranks = static_cast<int>(options.ranks.value_or(std::max<std::int64_t>(1, cores / options.threads)));
    if (!options.force) check_threads(ranks, static_cast<int>(options.threads), cores);
    Calibrated calibrated;
    comm::run_ranks(ranks, [&](comm::Communicator& comm) {
        Calibrated measured = calibrate_ranks(comm, options, false);
        if (comm.rank() == 0) calibrated = std::move(measured);
    });
    report(context, options, calibrated);
    if (ranks > 1) {
        say_notes(
            {fmt::format("links were measured between threads; for ranks under mpirun: mpirun -n {} gnnplan "
                         "calibrate, with the same flags but --ranks",
                         ranks)});
    }
    return exit_code(options, calibrated.load);
}

#ifdef GNNPLAN_HAVE_MPI

int run_under_mpi(const Context& context, const CalibrateOptions& options) {
    comm::MpiEnvironment mpi;
    comm::Communicator& world = mpi.world();
    if (world.size() == 1) comm::refuse_lone_rank(comm::MpiEnvironment::library_version());
    const bool speaks = world.rank() == 0;
    try {
        return mpi.run_or_abort(say_error_of_rank, [&] {
            comm::agree(world, [&] {
                if (options.ranks) throw Error(ErrorCode::usage, "mpirun says how many ranks there are", "--ranks");
                if (speaks) check_output(options);
            });
            const Calibrated calibrated = calibrate_ranks(world, options, true);
            comm::agree(world, [&] {
                if (speaks) report(context, options, calibrated);
            });
            return exit_code(options, calibrated.load);
        });
    } catch (const comm::AgreedError& error) {
        if (speaks) throw;
        return static_cast<int>(error.code());
    }
}

#else

int run_under_mpi(const Context&, const CalibrateOptions&) {
    throw Error(ErrorCode::unavailable, "this gnnplan was built without MPI", {}, "run it without mpirun");
}

#endif

// In place of measuring: the kept profile learns from runs.
int learn(const Context& context, const CalibrateOptions& options) {
    const Learner learner = learn_from_reports(options.from);
    const std::string file = options.output.value_or(learner.file), text = io::write_profile(learner.profile);
    io::write_file_atomically(file, text);
    if (options.json) {
        print(text);
        return 0;
    }
    const Calibration& calibration = *learner.profile.machine.calibration;
    std::string graphs;
    for (const LearnedGraph& graph : calibration.learned_from) graphs += labelled("learned", "from " + graph.name);
    print(graphs + corrections_text(calibration, use_color(context.color)) + epoch_errors_line(calibration) +
          labelled("kept", file));
    return 0;
}

int run_calibrate(const Context& context, const CalibrateOptions& options) {
    if (!options.from.empty()) return learn(context, options);
    return comm::launched_by_mpi() ? run_under_mpi(context, options) : run_in_process(context, options);
}

void add_from(CLI::App& command, CalibrateOptions& options) {
    CLI::Option* from = command.add_option("--from", options.from,
                                           "Measure nothing: let the kept calibration that runs were predicted with "
                                           "learn from their reports (gnnrun --report)");
    from->type_name("REPORT");
    for (const char* other : {"--quick", "--force", "--ranks", "--threads", "--ranks-per-node", "--largest"})
        from->excludes(other);
}

}  // namespace

void add_calibrate(CLI::App& root, Context& context) {
    const auto options = std::make_shared<CalibrateOptions>();
    CLI::App& command = add_command(root, "calibrate", "Measure this machine; plans use what was measured from then on",
                                    "gnnplan calibrate --quick\nmpirun -n 2 gnnplan calibrate");
    command.add_flag("--quick", options->quick,
                     "Measure fewer points: about a minute at most, instead of ten; --seconds lifts the limit");
    command.add_flag(
        "--force", options->force,
        "Measure even where other programs keep the cores busy, or threads are far more than cores, and keep "
        "what comes");
    command
        .add_option("-o,--output", options->output,
                    "Where to write the profile; default: one file for each number of ranks and threads, under mpirun "
                    "and without, in the user's cache folder (gnnplan machines)")
        ->type_name("FILE");
    add_count(command, "--ranks", options->ranks,
              "Ranks that measure at the same time, as threads; default: one per core. Not under mpirun",
              {1, max_ranks});
    add_count(command, "--threads", options->threads, "How many threads each rank has", {1, max_ranks});
    add_bind(command, options->bind);
    add_count(command, "--ranks-per-node", options->ranks_per_node,
              "Take so many consecutive ranks for a node; default: ranks on hosts of one name are one", {1, max_ranks});
    add_size(command, "--largest", options->largest,
             "Measure no operand and no message larger than this; default: 256MiB");
    const auto take_seconds = [options](const double& seconds) {
        if (!(seconds >= 0 && seconds <= 60)) throw CLI::ValidationError("--seconds", "must be from 0 to 60");
        options->seconds = seconds;
    };
    command.add_option_function<double>("--seconds", take_seconds, "Measure each point for about so many seconds")
        ->type_name("S");
    add_from(command, *options);
    command.add_flag("--json", options->json, "Print the profile (gnnplan.machine/1)");
    on_command(command, context, options, run_calibrate);
}

}  // namespace gnnplan::tools
