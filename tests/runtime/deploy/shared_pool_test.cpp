// A pool that ranks draw together is the one that a rank draws alone.
#include "runtime/deploy/shared_pool.hpp"

#include "runtime/comm/threads.hpp"
#include "runtime/measure/clock.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace gnnplan::deploy {
namespace {

std::vector<Sampling> samplings() {
    return {{.sampler = Sampler::node, .budget = 12, .coverage = 30, .seed = 7},
            {.sampler = Sampler::walk, .budget = 4, .walk_length = 2, .coverage = 30, .seed = 9},
            {.sampler = Sampler::walk, .budget = 2, .walk_length = 1, .coverage = 500, .seed = 2},
            {.sampler = Sampler::edge, .budget = 6, .coverage = 30, .coefficients = false, .seed = 8},
            {.sampler = Sampler::node, .budget = 2000, .coverage = 1, .seed = 3},
            {.sampler = Sampler::neighbours, .budget = 2, .seed = 3}};
}

}  // namespace

TEST(DrawTogether, CountsWhatARankCountsAlone) {
    for (const bool directed : {false, true}) {
        const data::Dataset dataset =
            train::testing::open(directed ? gnnplan::testing::random_directed(90, 4, 3, 2, 1)
                                          : gnnplan::testing::random_symmetric(90, 4, 3, 2, 1));
        for (const Sampling& sampling : samplings()) {
            sample::Pool alone(dataset.graph(), dataset.subset(), sampling);
            alone.draw();
            for (const int ranks : {1, 2, 3, 5}) {
                std::mutex mutex;
                std::int64_t sent = 0;
                comm::run_ranks(ranks, [&](comm::Communicator& comm) {
                    measure::SteadyClock clock;
                    const auto [pool, step] = draw_together(comm, dataset, sampling, clock);
                    const std::lock_guard lock(mutex);
                    EXPECT_EQ(pool->sizes(), alone.sizes());
                    EXPECT_EQ(pool->uncovered(), alone.uncovered());
                    EXPECT_EQ(pool->means().looked_at, alone.means().looked_at);
                    EXPECT_EQ(step.expected_bytes, step.traffic.sent_bytes);
                    sent += step.traffic.sent_bytes;
                    EXPECT_EQ(pool->uncovered_training(), alone.uncovered_training());
                    if (!sampling.has_pool()) return;
                    for (std::int64_t v = 0; v < dataset.vertices(); ++v)
                        ASSERT_EQ(pool->batches_with(v), alone.batches_with(v)) << v;
                    if (!sampling.coefficients) return;
                    for (const MatrixId matrix : {forward_matrix, backward_matrix}) {
                        for (std::int64_t e = 0; e < dataset.nonzeros(); ++e)
                            ASSERT_EQ(pool->batches_with(matrix, e), alone.batches_with(matrix, e)) << e;
                    }
                });
                // The counts of vertices, and of the nonzeros of each matrix, in a ring.
                const std::int64_t edges = sampling.coefficients ? (directed ? 2 : 1) * dataset.nonzeros() : 0;
                const std::int64_t counts = dataset.vertices() + edges;
                std::int64_t sizes = 0;
                for (const std::int64_t values : alone.added_sizes(ranks)) sizes += values;
                const bool counted = sampling.has_pool();
                EXPECT_EQ(sent, 2 * (ranks - 1) * (8 * sizes + (counted ? 4 * counts : 0)));
            }
        }
    }
}

TEST(DrawTogether, RefusesOnAllRanks) {
    const data::Dataset dataset = train::testing::open(gnnplan::testing::random_symmetric(90, 4, 3, 2, 1));
    const Sampling endless{.sampler = Sampler::node, .budget = 1, .coverage = 1'000'000, .seed = 7};
    comm::run_ranks(2, [&](comm::Communicator& comm) {
        measure::SteadyClock clock;
        EXPECT_THROW(draw_together(comm, dataset, endless, clock), comm::AgreedError);
    });
}

}  // namespace gnnplan::deploy
