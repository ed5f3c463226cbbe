#include "runtime/deploy/shared_pool.hpp"

#include "runtime/comm/counting.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace gnnplan::deploy {

SharedPool draw_together(comm::Communicator& comm, const data::Dataset& dataset, const Sampling& sampling,
                         measure::Clock& clock) {
    const double start = clock.now();
    const int rank = comm.rank(), ranks = comm.size();
    std::shared_ptr<sample::Pool> pool;
    comm::agree(comm, [&] { pool = std::make_shared<sample::Pool>(dataset.graph(), dataset.subset(), sampling); });
    load::LoadStep step;
    step.name = "pool";
    comm::CountingCommunicator counted(comm, step.traffic);
    pool->draw({rank, ranks, [&](std::span<double> values) { counted.all_reduce(values); },
                [&](std::span<float> values) { counted.all_reduce(values); }});
    comm::agree(comm, [&] { pool->refuse_idle(); });
    for (const std::int64_t values : pool->added_sizes(ranks))
        step.expected_bytes += comm::ring_all_reduce_traffic(values, sizeof(double), rank, ranks).sent_bytes;
    for (const std::int64_t values : pool->added_counts())
        step.expected_bytes += comm::ring_all_reduce_traffic(values, sizeof(float), rank, ranks).sent_bytes;
    step.seconds = clock.now() - start;
    return {std::move(pool), std::move(step)};
}

}  // namespace gnnplan::deploy
