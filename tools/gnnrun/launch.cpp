#include "tools/gnnrun/launch.hpp"

#include "runtime/comm/launch.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"
#include "tools/common/main.hpp"
#include "tools/gnnrun/artifacts.hpp"
#include "tools/gnnrun/session.hpp"

#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

void check_ranks(const RunFlags& flags, const Plan& plan) {
    const int ranks = plan.problem.ranks;
    if (ranks == 1 || flags.in_process) return;
    throw Error(ErrorCode::mismatch, fmt::format("the plan is for {} ranks, this is one process", ranks), flags.plan,
                fmt::format("start it with mpirun -n {}, or add --in-process", ranks));
}

int run_here(const RunFlags& flags) {
    Plan plan = load_plan(flags);
    check_ranks(flags, plan);
    check_artifacts(flags);
    const int ranks = plan.problem.ranks;
    Session session(flags, std::move(plan), true);
    session.open_data();
    if (flags.dry_run) {
        session.show_dry_run();
        return 0;
    }
    if (ranks == 1) {
        comm::SelfCommunicator self;
        session.train(self, false);
        return session.finish("self");
    }
    comm::run_ranks(ranks, [&](comm::Communicator& comm) { session.train(comm, true); });
    return session.finish("threads");
}

#ifdef GNNPLAN_HAVE_MPI

int run_under_mpi(const RunFlags& flags, comm::Communicator& world) {
    const bool speaks = world.rank() == 0;
    std::optional<Session> session;
    comm::agree(world, [&] {
        if (flags.in_process) throw Error(ErrorCode::usage, "--in-process and mpirun exclude each other");
        Plan plan = load_plan(flags);
        if (plan.problem.ranks != world.size()) {
            throw Error(ErrorCode::mismatch,
                        fmt::format("the plan is for {} ranks, mpirun started {}", plan.problem.ranks, world.size()),
                        flags.plan, fmt::format("use mpirun -n {}", plan.problem.ranks));
        }
        if (speaks) check_artifacts(flags);
        session.emplace(flags, std::move(plan), speaks);
        session->open_data();
    });
    int code = 0;
    if (flags.dry_run) {
        session->show_dry_run();
        return code;
    }
    session->train(world, false);
    comm::agree(world, [&] { code = session->finish("mpi"); });
    return static_cast<int>(comm::control_max(world, code));
}

// As parse_arguments and run_guarded, without a word.
int quiet_main(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& work) {
    try {
        app.parse(argc, argv);
        return work();
    } catch (const CLI::Success&) {
        return 0;
    } catch (const CLI::ParseError&) {
        return static_cast<int>(ErrorCode::usage);
    } catch (const Error& error) {
        return static_cast<int>(error.code());
    }
}

int launch_under_mpi(CLI::App& app, RunFlags& flags, int argc, const char* const* argv) {
    std::optional<comm::MpiEnvironment> mpi;
    const int failure = run_guarded([&] {
        mpi.emplace();
        return 0;
    });
    if (failure != 0) return failure;
    comm::Communicator& world = mpi->world();
    const auto work = [&] {
        if (flags.color == "auto") flags.color = "never";  // launchers give ranks a terminal of their own
        return mpi->run_or_abort([&] { return run_under_mpi(flags, world); });
    };
    return world.rank() == 0 ? run_main(app, argc, argv, work) : quiet_main(app, argc, argv, work);
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
    flags.command_line = command_line(argc, argv);
    if (comm::launched_by_mpi()) return launch_under_mpi(app, flags, argc, argv);
    return run_main(app, argc, argv, [&] { return run_here(flags); });
}

}  // namespace gnnplan::tools
