#include "runtime/deploy/batch_run.hpp"

#include "runtime/exec/clone_rows.hpp"

#include <utility>

namespace gnnplan::deploy {
namespace {

// The graphs of all batches as those of groups, which have as many of them each.
void put_in_groups(data::Clones& clones, int groups) {
    const int batches = clones.groups();
    std::vector<std::int64_t> first;
    for (int group = 0; group <= groups; ++group)
        first.push_back(clones.first[static_cast<std::size_t>(group * batches / groups)]);
    clones.first = std::move(first);
}

}  // namespace

void BatchRun::begin(std::shared_ptr<const exec::NumberedCounts> counts) {
    most_counts_ = std::move(counts);
    const sample::Pool& pool = *most_counts_->pool();
    walk_.emplace(pool.batches(), schedule_.numbering.batches->sampling.seed);
    room_.emplace(most_counts_->vertices());
}

std::shared_ptr<const exec::NumberedCounts> BatchRun::take(std::int64_t epoch, const data::DegreeScales& whole,
                                                           Normalisation normalisation, const data::Dataset& dataset,
                                                           exec::Executor& executor) {
    const Batches& batches = *schedule_.numbering.batches;
    const sample::Pool& pool = *most_counts_->pool();
    data::Clones clones = pool.graphs(walk_->of_update(epoch - 1, batches.per_update), *room_);
    put_in_groups(clones, schedule_.grid.x);
    auto counts = most_counts_->with_clones(std::move(clones));
    set_groups(schedule_, counts->groups());
    executor.take_batches(
        counts, exec::scales_of_batches(*counts->clones(), pool, batches.sampling.coefficients, whole, normalisation),
        dataset);
    return counts;
}

}  // namespace gnnplan::deploy
