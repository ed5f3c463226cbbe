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

void BatchRun::begin(const exec::NumberedCounts& counts, const data::DegreeScales& whole, Normalisation normalisation,
                     const std::function<void()>& work_beside) {
    const sample::Pool& pool = *counts.pool();
    normalisation_ = normalisation;
    scales_ = &whole;
    if (batches().sampling.training_graph)
        scales_ = &sampled_scales_.emplace(data::stored_scales(pool.sampled(), normalisation));
    counts_ = counts.with_clones(pool.graphs({}, {}, room_.emplace(pool.sampled().vertices())));
    walk_.emplace(pool.batches(), batches().sampling.seed);
    if (work_beside)
        ahead_ = std::make_unique<DrawAhead>(work_beside, [this](std::int64_t epoch) { return draw(epoch); });
}

data::Clones BatchRun::draw(std::int64_t epoch) {
    const int per_update = batches().per_update, groups = schedule_.grid.x;
    const std::int64_t of_group = per_update / groups, first = group_ * of_group;
    data::Clones clones =
        counts_->pool()->graphs(walk_->of_update(epoch - 1, per_update), {first, first + of_group}, *room_);
    put_in_groups(clones, groups);
    return clones;
}

std::shared_ptr<const exec::NumberedCounts> BatchRun::take(std::int64_t epoch, const data::Dataset& dataset,
                                                           exec::Executor& executor, measure::Clock& clock) {
    const double start = clock.now();
    std::optional<data::Clones> drawn = ahead_ ? ahead_->take(epoch) : std::nullopt;
    if (!drawn) drawn = draw(epoch);
    auto counts = counts_->with_clones(std::move(*drawn));
    if (ahead_) ahead_->start(epoch + 1);
    const double drawn_at = clock.now();
    set_groups(schedule_, counts->groups());
    executor.take_batches(counts,
                          exec::scales_of_batches(*counts->clones(), *counts_->pool(), batches().sampling.coefficients,
                                                  *scales_, normalisation_),
                          dataset);
    draw_seconds_.push_back(drawn_at - start);
    cut_seconds_.push_back(clock.now() - drawn_at);
    return counts;
}

BatchTotals BatchRun::totals(comm::Communicator& comm) const {
    const sample::Pool& pool = *counts_->pool();
    const BatchMeans means = pool.means();
    const std::vector<double> seconds =
        comm::control_max(comm, {measure::median(draw_seconds_), measure::median(cut_seconds_)});
    return {.per_update = batches().per_update,
            .pool = pool.batches(),
            .uncovered_nonzeros = pool.uncovered(),
            .uncovered_training = pool.uncovered_training(),
            .sampling = batches().sampling,
            .vertices = means.vertices,
            .nonzeros = means.nonzeros,
            .draw_seconds = seconds[0],
            .cut_seconds = seconds[1],
            .drawn_ahead = ahead_ != nullptr};
}

}  // namespace gnnplan::deploy
