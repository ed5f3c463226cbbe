// Every two-layer configuration under real MPI: values equal the serial reference, counted bytes and allocated memory
// equal the prediction on every rank.
#include <gtest/gtest.h>

#include <cstdio>

#include <fmt/format.h>

#include "runtime/comm/mpi.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/expectations.hpp"

namespace gnnplan::testing {
namespace {

comm::Communicator* world = nullptr;  // tests take no arguments; set once by main

void check_configurations(const TestProblem& problem) {
    const exec::GraphCounts counts(problem.dataset().graph());
    const Expected expected = expect_of(problem, 1);
    for (const int replication : replications(world->size())) {
        int index = 0;
        for (const Candidate& candidate : configurations(problem, counts, world->size(), replication)) {
            if (!sampled(index++)) continue;
            SCOPED_TRACE(fmt::format("{}: id {}, R_A = {}, rank {} of {}", problem.name(),
                                     candidate.configuration.id.value(), replication, world->rank(), world->size()));
            const RankRun run = run_rank(problem, candidate.schedule, 1, kernels::cpu_table(), *world);
            check_rank(problem, run, expected);
            EXPECT_TRUE(bytes_as_predicted(candidate.schedule, world->rank(), run));
            EXPECT_EQ(run.allocated_peak, run.predicted_peak);
        }
    }
}

TEST(UnderMpi, DirectedGraphWithDropout) {
    check_configurations(TestProblem(random_directed(23, 4, 7, 5, 1), {{6}, true, 0.5F, 0.25F}));
}

TEST(UnderMpi, SymmetricGraph) {
    check_configurations(TestProblem(random_symmetric(24, 5, 8, 4, 2), {{6}, false, 0, 0}));
}

}  // namespace
}  // namespace gnnplan::testing

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    GTEST_FLAG_SET(catch_exceptions, false);  // a rank that fails alone must end the others
    gnnplan::comm::MpiEnvironment mpi;
    try {
        gnnplan::testing::world = &mpi.world();
        return RUN_ALL_TESTS();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
        mpi.abort(EXIT_FAILURE);
    }
}
