// Every two-layer configuration of the paper and a sample of the full space under real MPI: values equal the serial
// reference, counted bytes and allocated memory equal the prediction on every rank.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "planner/lower/buffers.hpp"
#include "planner/search/full_space.hpp"
#include "runtime/comm/mpi.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "tests/integration/expectations.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/support/sampled.hpp"

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
            EXPECT_EQ(run.allocated_host_peak, run.predicted_host_peak);
        }
    }
}

TEST(UnderMpi, DirectedGraphWithDropout) {
    check_configurations(TestProblem(random_directed(23, 4, 7, 5, 1), {{6}, true, 0.5F, 0.25F}));
}

TEST(UnderMpi, SymmetricGraph) {
    check_configurations(TestProblem(random_symmetric(24, 5, 8, 4, 2), {{6}, false, 0, 0}));
}

// The cases that a sample must have had of every scheme that the ranks have a grid for.
struct Sampled {
    std::set<std::string> schemes, rows, overlapped, permuted, loss_rows;
    int column_losses = 0;
    int replicated_inputs = 0;
    int cached = 0;

    void add(const Configuration& c) {
        schemes.insert(scheme_of(c));
        if (c.exchange == Exchange::rows) rows.insert(scheme_of(c));
        if (c.overlap) overlapped.insert(scheme_of(c));
        if (c.permutation) permuted.insert(scheme_of(c));
        if (c.loss_rows) loss_rows.insert(scheme_of(c));
        column_losses += c.column_loss ? 1 : 0;
        replicated_inputs += c.replicated_input ? 1 : 0;
        cached += c.cached_aggregation ? 1 : 0;
    }
};

void check_configuration(const TestProblem& problem, const search::Space& space, const Configuration& configuration,
                         const Expected& expected, std::int64_t buffer_bytes) {
    SCOPED_TRACE(fmt::format("{}: {} on {}, forward {}, backward {}, rank {} of {}", problem.name(),
                             scheme_of(configuration), configuration.grid.text(), text(configuration.forward),
                             text(configuration.backward), world->rank(), world->size()));
    Schedule schedule = lower::lower(space.model, configuration, space.shape);
    if (buffer_bytes > 0) {
        const auto graph = numbered_counts(problem, schedule);
        const std::int64_t enough = lower::bound_buffers(schedule, *graph, buffer_bytes);
        if (enough > 0) lower::bound_buffers(schedule, *graph, enough);
    }
    const RankRun run = run_rank(problem, schedule, 1, kernels::cpu_table(), *world);
    check_rank(problem, run, expected);
    EXPECT_TRUE(bytes_as_predicted(schedule, world->rank(), run));
    EXPECT_EQ(run.allocated_peak, run.predicted_peak);
    EXPECT_EQ(run.allocated_host_peak, run.predicted_host_peak);
}

// On every grid of every scheme some of the combinations of layer choices, with switches by turns.
Sampled check_schemes(const TestProblem& problem) {
    constexpr std::size_t per_grid = 16;
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    search::Space space = search::make_space(problem.planner_problem(counts, world->size()), test_machine(), {});
    space.shape.ranks_per_node = 2;  // pass panels on, whatever nodes there are
    const Expected expected = expect_of(problem, 1);
    Sampled sampled;
    for (const Distribution& on : space.grids) {
        const bool rows = on.grid.x > 1;
        const bool nonzeros = on.sends_nonzeros();
        const std::vector<search::Choices> all = search::all_choices(space, on, false);
        for (std::size_t turn = 0; turn < per_grid; ++turn) {
            const search::Choices& choices = all[turn * (all.size() - 1) / (per_grid - 1)];
            if (choices.front().constant_input && problem.network().input_dropout > 0) continue;
            search::ConfigurationFrame frame{on};
            frame.switches.loss_rows = turn % 3 == 0, frame.switches.permutation = turn / 2 % 2 == 1;
            if (on.splits_columns()) frame.switches.scores = scores_in_turn(static_cast<int>(turn));
            const Exchange whole = turn % 4 == 1 ? Exchange::panels : Exchange::relay;
            const bool passes = turn % 4 == 2 && on.sharing == Sharing::replicated;
            const Exchange needed = passes ? Exchange::relayed_rows : Exchange::rows;
            if (rows) frame.switches.exchange = turn % 2 == 0 ? needed : whole;
            frame.switches.overlap = (rows || nonzeros) && turn / 4 % 2 == 0;
            if (on.sharing == Sharing::cut) cut_by(turn % 2 == 0 ? CutRule::libra : CutRule::seeded, frame);
            const Configuration configuration = search::configuration_of(frame, choices);
            sampled.add(configuration);
            constexpr std::array<std::int64_t, 3> buffers{0, 1, 192};  // the smallest that there are, and small ones
            check_configuration(problem, space, configuration, expected, buffers[turn % buffers.size()]);
        }
    }
    return sampled;
}

TEST(SchemesUnderMpi, SymmetricGraph) {
    const Sampled sampled = check_schemes(TestProblem(random_symmetric(24, 5, 8, 4, 2), {{6}, true, 0, 0}));
    const std::set<std::string> schemes =
        world->size() >= 4 ? std::set<std::string>{"rdm", "1d", "1.5d", "2d", "3d"}
                           : std::set<std::string>{"rdm", "1d", "1.5d", "2d"};  // z and y need two ranks each
    std::set<std::string> all = schemes;
    all.insert("cut");
    EXPECT_EQ(sampled.schemes, all);
    EXPECT_EQ(sampled.permuted, schemes);
    EXPECT_EQ(sampled.loss_rows, schemes);
    EXPECT_TRUE(sampled.rows.contains("1d"));
    EXPECT_TRUE(sampled.overlapped.contains("1d") && sampled.overlapped.contains("2d"));
    if (world->size() == 4) {
        EXPECT_EQ(sampled.rows, (std::set<std::string>{"rdm", "1d", "1.5d", "2d", "cut"}));
    }
    EXPECT_GT(sampled.column_losses, 0);
    EXPECT_GT(sampled.replicated_inputs, 0);
    EXPECT_GT(sampled.cached, 0);
}

TEST(SchemesUnderMpi, DirectedGraphWithDropout) {
    const Sampled sampled = check_schemes(TestProblem(random_directed(23, 4, 7, 5, 1), {{6}, false, 0.5F, 0.25F}));
    EXPECT_GE(sampled.schemes.size(), 4U);
}

// Models that weigh edges: heads that y cuts, dropout of weights, values of edges and where their transposes have them.
TEST(SchemesUnderMpi, Attention) {
    Network network{{6}, true, 0.5F, 0, {true, Normalisation::none}, {}, 0.4F};
    network.model.name = "gat";
    network.model.heads = 3;
    EXPECT_EQ(check_schemes(TestProblem(random_directed(23, 4, 7, 5, 1), network)).schemes.contains("1d"), true);
}

TEST(SchemesUnderMpi, Cosines) {
    Network network{{6}, true, 0.5F, 0, {true, Normalisation::none}, {}};
    network.model.name = "agnn";
    for (const TinyGraph& graph : {random_directed(23, 4, 7, 5, 1), random_symmetric(24, 5, 8, 4, 2)})
        EXPECT_EQ(check_schemes(TestProblem(graph, network)).schemes.contains("1d"), true);
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
