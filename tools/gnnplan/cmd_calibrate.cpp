// gnnplan calibrate: measures this machine, fits a profile to it and keeps it.
//
// Reading guide: calibrate() is what every rank does; run_in_process() and run_under_mpi() start the ranks.
#include "kernels/backend.hpp"
#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"
#include "runtime/calibrate/calibrate.hpp"
#include "runtime/comm/device_exchange.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/launcher.hpp"
#include "runtime/comm/threads.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif
#include "tools/ask/calibration.hpp"
#include "tools/common/options.hpp"
#include "tools/gnnplan/calibrate_from.hpp"
#include "tools/gnnplan/calibrate_load.hpp"
#include "tools/gnnplan/calibrate_output.hpp"
#include "tools/gnnplan/calibrate_ranks.hpp"

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

// Made sure before long work: the profile can be written, in the folder of those that are kept if nowhere else.
void check_output(const CalibrateOptions& options) {
    io::check_can_create(options.output ? *options.output : make_calibration_folder(options.name) + "/machine");
}

// Whether plans may use the profile without being asked.
bool sound(const CalibrateOptions& options, const calibrate::Load& load) { return options.force || !too_busy(load); }

void report(const Context& context, const CalibrateOptions& options, const Calibrated& calibrated) {
    const auto& [profile, load] = calibrated;
    if (!sound(options, load)) {
        const std::string aside = set_aside(profile, options.output, options.name);
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
        const auto [kept, note] = keep_calibration(profile, options.name);
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

// The ranks of a machine take its devices in turn: after the last one comes the first again.
std::int64_t devices(const kernels::Backend& backend) {
    const std::string first = backend.device_name(0);
    int count = 1;
    while (backend.device_name(count) != first) ++count;
    return count;
}

void check_words(const CalibrateOptions& options) {
    if (!options.name.empty()) io::check_calibration_name(options.name, catalog::machine_names());
    if (options.device_exchange == "auto" || options.backend != "cpu") return;
    throw Error(ErrorCode::usage, "chooses how GPUs exchange, and this is --backend cpu", "--exchange");
}

int run_in_process(const Context& context, const CalibrateOptions& options) {
    comm::refuse_lone_rank(mpi_library());
    check_output(options);
    const kernels::Backend backend = kernels::open_backend(options.backend);
    const int cores = catalog::read_host().cores;
    const std::int64_t usual =
        backend.host_memory ? std::max<std::int64_t>(1, cores / options.threads) : devices(backend);
    const auto ranks = static_cast<int>(options.ranks.value_or(usual));
    if (!options.force) check_threads(ranks, static_cast<int>(options.threads), cores);
    Calibrated calibrated;
    comm::run_ranks(ranks, [&](comm::Communicator& comm) {
        Calibrated measured = calibrate_ranks(comm, options, backend, false);
        if (comm.rank() == 0) calibrated = std::move(measured);
    });
    report(context, options, calibrated);
    if (ranks > 1) {
        say_notes(
            {fmt::format("links were measured between threads; for ranks that are processes: {} gnnplan calibrate, "
                         "with the same flags but --ranks",
                         comm::start_command_here(ranks, mpi_library()))});
    }
    return exit_code(options, calibrated.load);
}

#ifdef GNNPLAN_HAVE_MPI

int run_under_mpi(const Context& context, const CalibrateOptions& options) {
    comm::MpiEnvironment mpi;
    comm::Communicator& world = mpi.world();
    if (world.size() == 1) comm::refuse_lone_rank(mpi_library());
    const bool speaks = world.rank() == 0;
    try {
        return mpi.run_or_abort(say_error_of_rank, [&] {
            kernels::Backend backend;
            comm::agree(world, [&] {
                backend = kernels::open_backend(options.backend);
                if (options.ranks)
                    throw Error(ErrorCode::usage,
                                comm::name_of(comm::launcher_here()) + " says how many ranks there are", "--ranks");
                if (speaks) check_output(options);
            });
            const Calibrated calibrated = calibrate_ranks(world, options, backend, true);
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
    throw Error(ErrorCode::unavailable, "this gnnplan was built without MPI", {},
                "run it without " + comm::name_of(comm::launcher_here()));
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
    check_words(options);
    return comm::launched_by_mpi() ? run_under_mpi(context, options) : run_in_process(context, options);
}

void add_from(CLI::App& command, CalibrateOptions& options) {
    CLI::Option* from = command.add_option("--from", options.from,
                                           "Measure nothing: let the kept calibration that runs were predicted with "
                                           "learn from their reports (gnnrun --report)");
    from->type_name("REPORT");
    for (const char* other : {"--quick", "--force", "--ranks", "--threads", "--ranks-per-node", "--largest",
                              "--backend", "--exchange", "--name"})
        from->excludes(other);
}

// Where the profile goes.
void add_places(CLI::App& command, CalibrateOptions& options) {
    command
        .add_option("-o,--output", options.output,
                    "Where to write the profile; default: one file for each number of ranks and threads, under mpirun "
                    "and without, in the user's cache folder (gnnplan machines)")
        ->type_name("FILE");
    command
        .add_option("--name", options.name,
                    "Keep the profile under this name, for one kind of nodes of several; plans use --machine NAME")
        ->type_name("NAME")
        ->check([](const std::string& name) { return std::string(name.empty() ? "a name has a letter" : ""); })
        ->excludes("--output");
}

void add_devices(CLI::App& command, CalibrateOptions& options) {
    command
        .add_option(
            "--backend", options.backend,
            "Measure the processor (cpu) or this machine's GPUs (cuda); plans use the latter with --machine cuda")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->type_name("NAME");
    command
        .add_option("--exchange", options.device_exchange,
                    "With --backend cuda, how GPUs exchange, as in gnnrun: auto, nccl, peers or staged")
        ->check(CLI::IsMember(comm::device_exchanges()))
        ->type_name("WAY");
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
    add_places(command, *options);
    add_count(command, "--ranks", options->ranks,
              "Ranks that measure at the same time, as threads; default: one per core, or GPU. Not under mpirun",
              {1, max_ranks});
    add_count(command, "--threads", options->threads, "How many threads each rank has", {1, max_ranks});
    add_bind(command, options->bind);
    add_count(command, "--ranks-per-node", options->ranks_per_node,
              "Take so many consecutive ranks for a node; default: ranks that share memory are on one", {1, max_ranks});
    add_size(command, "--largest", options->largest,
             "Measure no operand and no message larger than this; default: 256MiB, with --backend cuda 2GiB");
    add_devices(command, *options);
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
