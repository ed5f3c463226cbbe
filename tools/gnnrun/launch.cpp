#include "tools/gnnrun/launch.hpp"

#include "runtime/comm/launch.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"
#include "tools/common/main.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnrun/session.hpp"

#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>

namespace gnnplan::tools {
namespace {

void check_ranks(const RunFlags& flags, const Plan& plan) {
    const int ranks = plan.problem.ranks;
    if (ranks == 1 || flags.in_process) return;
    throw Error(ErrorCode::mismatch, fmt::format("the plan is for {} ranks, this is one process", ranks), flags.plan,
                fmt::format("start it with mpirun -n {}, or add --in-process", ranks));
}

int run_here(const RunFlags& flags) {
    Plan plan = read_plan_file(flags.plan);
    check_ranks(flags, plan);
    const int ranks = plan.problem.ranks;
    Session session(flags, std::move(plan), true);
    session.check_outputs();
    session.check_memory(1);  // threads share what each rank would load
    session.read_start();
    session.take_start();
    session.open_data();
    comm::SelfCommunicator self;
    session.check_features(self);
    session.compare_start();
    session.open_outputs(self);
    if (flags.dry_run) {
        session.show_dry_run();
        return 0;
    }
    if (!session.computes()) {
        session.take_finished();
        return session.finish(ranks == 1 ? "self" : "threads", 1);
    }
    if (ranks == 1) {
        session.run(self, false, 0);
        return session.finish("self", 1);
    }
    comm::run_ranks(ranks, [&](comm::Communicator& comm) { session.run(comm, true, comm.rank()); });
    return session.finish("threads", 1);
}

#ifdef GNNPLAN_HAVE_MPI

struct RanksHere {
    int count = 1;
    int before_this = 0;  // of lower rank
};

RanksHere ranks_on_this_host(comm::Communicator& world) {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::vector<std::string> all = world.control_all_gather(name.data());
    const auto count = [&](int ranks) {
        return static_cast<int>(std::count(all.begin(), all.begin() + ranks, std::string(name.data())));
    };
    return {count(world.size()), count(world.rank())};
}

int run_under_mpi(const RunFlags& flags, comm::Communicator& world) {
    const bool speaks = world.rank() == 0;
    std::optional<Session> session;
    comm::agree(world, [&] {
        if (flags.in_process) throw Error(ErrorCode::usage, "--in-process and mpirun exclude each other");
        Plan plan = read_plan_file(flags.plan);
        if (plan.problem.ranks != world.size()) {
            throw Error(ErrorCode::mismatch,
                        fmt::format("the plan is for {} ranks, mpirun started {}", plan.problem.ranks, world.size()),
                        flags.plan, fmt::format("use mpirun -n {}", plan.problem.ranks));
        }
        session.emplace(flags, std::move(plan), speaks);
        session->check_outputs();
    });
    require_same(world, session->facts_of_run());
    const RanksHere ranks_here = ranks_on_this_host(world);
    comm::agree(world, [&] {
        session->check_memory(ranks_here.count);
        if (speaks) session->read_start();
    });
    session->share_start(world);
    comm::agree(world, [&] {
        session->take_start();
        session->open_data();
    });
    require_same(world, session->facts_of_data());
    session->check_features(world);
    comm::agree(world, [&] { session->compare_start(); });
    session->open_outputs(world);
    int code = 0;
    if (flags.dry_run) {
        session->show_dry_run();
        return code;
    }
    if (session->computes()) {
        session->run(world, false, ranks_here.before_this);
    } else {
        comm::agree(world, [&] { session->take_finished(); });
    }
    comm::agree(world, [&] { code = session->finish("mpi", world.size()); });
    return static_cast<int>(comm::control_max(world, code));
}

// As run_guarded, without a word.
int run_quietly(const std::function<int()>& work) {
    try {
        return work();
    } catch (const Error& error) {
        return static_cast<int>(error.code());
    }
}

// Parses on every rank. When one of them has nothing to run, because of an error or because it was asked for help, none
// has; rank 0 says what the errors are.
std::optional<int> parse_everywhere(comm::Communicator& world, CLI::App& app, int argc, const char* const* argv) {
    const bool speaks = world.rank() == 0;
    const std::optional<EarlyEnd> end = parse(app, argc, argv, speaks);
    const std::vector<std::string> all = world.control_all_gather(!end                 ? "runs"
                                                                  : end->error.empty() ? "helps"
                                                                                       : "error: " + end->error);
    const auto differs = std::find_if(all.begin(), all.end(), [&](const std::string& text) { return text != all[0]; });
    if (differs == all.end()) {
        if (end && speaks && !end->error.empty()) say_error(end->error);
        return end ? std::optional(end->code) : std::nullopt;
    }
    for (std::size_t rank = 0; speaks && rank < all.size(); ++rank) {
        if (all[rank].starts_with("error: ")) say_error(fmt::format("rank {}: {}", rank, all[rank].substr(7)));
        if (all[rank] == "helps") say_error(fmt::format("rank {} was asked for help, and others to run", rank));
    }
    return static_cast<int>(ErrorCode::usage);
}

// What makes ranks slower than they could be, once, whichever rank knows it.
void say_note(comm::Communicator& world, const std::string& note, bool quiet) {
    const std::vector<std::string> all = world.control_all_gather(note);
    const auto said = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    if (said != all.end() && world.rank() == 0 && !quiet) say("note: {}\n", *said);
}

int launch_under_mpi(CLI::App& app, RunFlags& flags, int argc, const char* const* argv) {
    std::optional<comm::MpiEnvironment> mpi;
    const int failure = run_guarded([&] {
        mpi.emplace();
        return 0;
    });
    if (failure != 0) return failure;
    comm::Communicator& world = mpi->world();
    if (const std::optional<int> end = parse_everywhere(world, app, argc, argv)) return *end;
    say_note(world, mpi->note(), flags.quiet);
    const auto work = [&] {
        if (flags.color == "auto") flags.color = "never";  // launchers give ranks a terminal of their own
        return mpi->run_or_abort([&] { return run_under_mpi(flags, world); });
    };
    return world.rank() == 0 ? run_guarded(work) : run_quietly(work);
}

#else

int launch_under_mpi(CLI::App& app, const RunFlags&, int argc, const char* const* argv) {
    return run_main(app, argc, argv, []() -> int {
        throw Error(ErrorCode::unavailable, "this gnnrun was built without MPI", {},
                    "run it without mpirun, with --in-process");
    });
}

#endif

}  // namespace

int launch(CLI::App& app, RunFlags& flags, int argc, const char* const* argv) {
    flags.arguments.assign(argv, argv + argc);
    if (comm::launched_by_mpi()) return launch_under_mpi(app, flags, argc, argv);
    return run_main(app, argc, argv, [&] { return run_here(flags); });
}

}  // namespace gnnplan::tools
