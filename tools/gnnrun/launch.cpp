#include "tools/gnnrun/launch.hpp"

#include "kernels/backend.hpp"
#include "planner/catalog/host.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/launcher.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/run/run.hpp"
#include "tools/common/main.hpp"
#include "tools/common/memory_limit.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnrun/timeout.hpp"
#include "tools/gnnrun/words.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/table.hpp"

#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace gnnplan::tools {
namespace {

// Does the same as run_guarded, but prints nothing.
int run_quietly(const std::function<int()>& work) {
    try {
        return work();
    } catch (const Error& error) {
        return static_cast<int>(error.code());
    }
}

// Where each rank runs; `places`: host and threads, in the order of the ranks.
void say_places(const std::vector<std::pair<std::string, std::string>>& places) {
    Table table({{"rank", Align::right}, {"host"}, {"threads", Align::right}});
    for (std::size_t rank = 0; rank < places.size(); ++rank)
        table.add({std::to_string(rank), places[rank].first, places[rank].second});
    say_text(table.text(false));
}

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

// Reads the plan, makes a run of it, and carries it out on these ranks; returns the exit code of all processes.
// `threads`: of a rank, without --threads.
int run_on(run::Ranks& ranks, const RunFlags& flags, const std::function<Plan()>& read_plan, int threads) {
    comm::Communicator& processes = ranks.processes;
    Words words(flags, processes.rank() == 0);
    std::optional<run::Settings> settings;
    std::optional<run::Run> run;
    comm::agree(processes, [&] {
        Plan plan = read_plan();
        settings = settings_of(flags, plan, threads);
        run.emplace(*settings, std::move(plan), words);
        const bool on_host = flags.dry_run || !kernels::tensor_memory(flags.backend).accelerator;
        if (on_host) limit_memory(run->plan().problem.ranks / processes.size() * settings->training.threads);
    });
    const std::optional<run::Outcome> outcome = run->go(ranks);
    int code = 0;
    comm::agree(processes, [&] {
        if (outcome) code = words.conclude(run->plan(), *outcome, processes.size());
    });
    return static_cast<int>(comm::control_max(processes, code));
}

int run_here(const RunFlags& flags) {
    Plan plan = read_plan_file(flags.plan);
    const int ranks = plan.problem.ranks;
    if (ranks > 1 && !flags.in_process) {
        throw Error(
            ErrorCode::mismatch, fmt::format("the plan is for {} ranks, this is one process", ranks), flags.plan,
            fmt::format("start it with {}, or add --in-process", comm::start_command_here(ranks, mpi_library())));
    }
    comm::SelfCommunicator self;
    comm::Heartbeat& heartbeat = *self.heartbeats().front();
    heartbeat.belongs_to_caller();
    heartbeat.enter(comm::Heartbeat::checking);
    run::Ranks here{.processes = self,
                    .communicator = ranks == 1 ? "self" : "threads",
                    .watchdog = run::watch(flags.timeout, {&heartbeat}, {0}, end_stuck_process)};
    const int threads = catalog::threads_of_rank(ranks, ranks);
    if (flags.verbose) {
        const std::pair of_each(host_name(), std::to_string(flags.threads.value_or(threads)));
        say_places(std::vector(static_cast<std::size_t>(ranks), of_each));
    }
    return run_on(
        here, flags, [&] { return std::move(plan); }, threads);
}

#ifdef GNNPLAN_HAVE_MPI

// Collective. The ranks of this node that may run on the same processing units as this one.
int ranks_on_own_units(comm::Communicator& world) {
    const std::vector<int> nodes = world.nodes();
    const std::vector<std::string> units = world.control_all_gather(catalog::processing_units());
    const auto own = static_cast<std::size_t>(world.rank());
    int count = 0;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank)
        count += nodes[rank] == nodes[own] && units[rank] == units[own] ? 1 : 0;
    return count;
}

// Collective.
void say_places_of_all(comm::Communicator& world, const RunFlags& flags, int threads) {
    const std::vector<std::string> hosts = world.control_all_gather(host_name());
    const std::vector<std::string> of_each = world.control_all_gather(std::to_string(flags.threads.value_or(threads)));
    if (!flags.verbose || world.rank() != 0) return;
    std::vector<std::pair<std::string, std::string>> places;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) places.emplace_back(hosts[rank], of_each[rank]);
    say_places(places);
}

int run_under_mpi(const RunFlags& flags, comm::Communicator& world, std::unique_ptr<run::Watchdog> watchdog) {
    const comm::RanksHere here = comm::ranks_here(world);
    run::Ranks ranks{.processes = world,
                     .communicator = "mpi",
                     .on_this_node = here.count,
                     .before_this = here.before_this,
                     .watchdog = std::move(watchdog)};
    const auto read_plan = [&] {
        const std::string launcher = comm::name_of(comm::launcher_here());
        if (flags.in_process) throw Error(ErrorCode::usage, "--in-process and " + launcher + " exclude each other");
        Plan plan = read_plan_file(flags.plan);
        if (plan.problem.ranks != world.size()) {
            throw Error(
                ErrorCode::mismatch,
                fmt::format("the plan is for {} ranks, {} started {}", plan.problem.ranks, launcher, world.size()),
                flags.plan, "use " + comm::start_command_here(plan.problem.ranks, mpi_library()));
        }
        return plan;
    };
    const int threads = catalog::threads_of_rank(here.count, ranks_on_own_units(world));
    say_places_of_all(world, flags, threads);
    return run_on(ranks, flags, read_plan, threads);
}

// When one rank has nothing to run, because of an error in its arguments or because it was asked for help, no rank
// runs; rank 0 prints the errors.
std::optional<int> end_everywhere(comm::Communicator& world, const std::optional<EarlyEnd>& end) {
    const bool speaks = world.rank() == 0;
    const std::vector<std::string> all = world.control_all_gather(!end                 ? "runs"
                                                                  : end->error.empty() ? "helps"
                                                                                       : "error: " + end->error);
    const auto differs = std::find_if(all.begin(), all.end(), [&](const std::string& text) { return text != all[0]; });
    if (differs == all.end()) {
        if (!end) return std::nullopt;
        return speaks ? end_early(*end) : end->code;
    }
    for (std::size_t rank = 0; speaks && rank < all.size(); ++rank) {
        if (all[rank].starts_with("error: ")) say_error(fmt::format("rank {}: {}", rank, all[rank].substr(7)));
        if (all[rank] == "helps") say_error(fmt::format("rank {} was asked for help, and others to run", rank));
    }
    return static_cast<int>(ErrorCode::usage);
}

// Says once why ranks are slower than they could be, whichever rank knows it.
void say_note(comm::Communicator& world, const std::string& note, bool quiet) {
    const std::vector<std::string> all = world.control_all_gather(note);
    const auto said = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    if (said != all.end() && world.rank() == 0 && !quiet) say("note: {}\n", *said);
}

// Does the work of a rank after MPI has started.
int run_rank(comm::MpiEnvironment& mpi, const std::optional<EarlyEnd>& end, RunFlags& flags) {
    comm::Communicator& world = mpi.world();
    if (world.size() == 1 && !end) comm::refuse_lone_rank(mpi_library());
    return mpi.run_or_abort(say_error_of_rank, [&]() -> int {
        const std::vector<comm::Heartbeat*> ranks = world.heartbeats();
        ranks[static_cast<std::size_t>(world.rank())]->enter(comm::Heartbeat::checking);
        std::unique_ptr<run::Watchdog> watchdog = run::watch(flags.timeout, ranks, {world.rank()}, end_stuck_process);
        if (const std::optional<int> code = end_everywhere(world, end)) return *code;
        say_note(world, mpi.note(), flags.quiet);
        if (flags.color == "auto") flags.color = "never";  // launchers give ranks a terminal of their own
        return run_under_mpi(flags, world, std::move(watchdog));
    });
}

// Arguments are parsed before MPI starts, which --timeout watches.
int launch_under_mpi(CLI::App& app, RunFlags& flags, int argc, const char* const* argv) {
    const std::optional<EarlyEnd> end = parse(app, argc, argv);
    const auto start = std::make_shared<comm::MpiStart>();
    std::unique_ptr<run::Watchdog> outside;  // watches MPI's start, and later its end
    std::optional<comm::MpiEnvironment> mpi;
    int code = run_guarded([&] {
        outside = watch_start(flags.timeout, *start);
        mpi.emplace(comm::MpiEnvironment::largest_message, start);
        outside.reset();
        return 0;
    });
    if (code != 0) return code;
    const auto work = [&] { return run_rank(*mpi, end, flags); };
    // Processes that find no others are all rank 0, so that the launcher's number decides which one prints errors.
    code = mpi->world().rank() == 0 && comm::rank_of_launcher() == 0 ? run_guarded(work) : run_quietly(work);
    start->heartbeat().enter(comm::Heartbeat::leaving);
    outside = watch_start(flags.timeout, *start);
    mpi.reset();
    return code;
}

#else

int launch_under_mpi(CLI::App& app, const RunFlags&, int argc, const char* const* argv) {
    return run_main(app, argc, argv, []() -> int {
        throw Error(ErrorCode::unavailable, "this gnnrun was built without MPI", {},
                    fmt::format("run it without {}, with --in-process", comm::name_of(comm::launcher_here())));
    });
}

#endif

}  // namespace

std::string mpi_library() {
#ifdef GNNPLAN_HAVE_MPI
    return comm::MpiEnvironment::library_version();
#else
    return {};
#endif
}

int launch(CLI::App& app, RunFlags& flags, int argc, const char* const* argv) {
    flags.arguments.assign(argv, argv + argc);
    if (comm::launched_by_mpi()) return launch_under_mpi(app, flags, argc, argv);
    const auto work = [&] {
        comm::refuse_lone_rank(mpi_library());
        return run_here(flags);
    };
    if (comm::rank_of_launcher() == 0) return run_main(app, argc, argv, work);
    const std::optional<EarlyEnd> end = parse(app, argc, argv);  // the first of the processes prints it
    return end ? end->code : run_quietly(work);
}

}  // namespace gnnplan::tools
