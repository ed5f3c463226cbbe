// Trains a tiny plan on MPI processes and has rank 1 throw in the middle of its second epoch, alone.
//   one_rank_fails ERROR
// ERROR: data, mismatch or infeasible, an Error with that code; memory, std::bad_alloc; none: it does not throw.
// The exit code is run_or_abort's, or 0.
#include "runtime/comm/mpi.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <cstdio>
#include <new>
#include <string>

namespace gnnplan::train {
namespace {

void fail(const std::string& error) {
    if (error == "memory") throw std::bad_alloc();
    if (error == "data") throw Error(ErrorCode::data, "rank 1 alone");
    if (error == "mismatch") throw Error(ErrorCode::mismatch, "rank 1 alone");
    if (error == "infeasible") throw Error(ErrorCode::infeasible, "rank 1 alone");
}

int train_and_fail(comm::Communicator& world, const std::string& error) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(19, 3, 6, 3, 2));
    const Plan plan = testing::make_plan(dataset, 5, true, world.size(), {{1, 6}});
    TrainOptions options;
    options.epochs = 4;
    TrainHooks hooks;
    hooks.step = [&](std::int64_t epoch, const Step& step, const exec::Executor& executor) {
        if (executor.rank() == 1 && epoch == 2 && std::holds_alternative<GemmStep>(step.operation)) fail(error);
    };
    testing::FakeClock clock;
    train(world, plan, dataset, options, hooks, clock);
    return 0;
}

}  // namespace
}  // namespace gnnplan::train

int main(int argc, char** argv) {
    if (argc != 2) return static_cast<int>(gnnplan::ErrorCode::usage);
    gnnplan::comm::MpiEnvironment mpi;
    try {
        return mpi.run_or_abort([&] { return gnnplan::train::train_and_fail(mpi.world(), argv[1]); });
    } catch (const gnnplan::Error& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
