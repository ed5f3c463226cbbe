// A schedule whose groups train on other batches in every epoch: its rows follow them.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/deploy/draw_ahead.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/sample/walk.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::deploy {

class BatchRun {
public:
    BatchRun(const Schedule& planned, int rank)
        : schedule_(planned), group_(planned.grid.coordinate(rank, Axis::x)), most_(planned.grid.groups) {}

    // The schedule to build the executor for, which has room for the largest batches until an epoch takes others.
    const Schedule& schedule() const { return schedule_; }
    // `counts` are those of the schedule as it was planned; `whole`, the scales of the graph, outlives the object. With
    // `work_beside` (RunOptions) a thread draws the batches of the next epoch while one trains.
    void begin(const exec::NumberedCounts& counts, const data::DegreeScales& whole, Normalisation normalisation,
               const std::function<void()>& work_beside);

    // The batches of an epoch, from 1 on, in the executor's groups. Of other groups only the sizes are known.
    std::shared_ptr<const exec::NumberedCounts> take(std::int64_t epoch, const data::Dataset& dataset,
                                                     exec::Executor& executor, measure::Clock& clock);
    // Rows of the whole graph are where the plan has them only while groups have the most rows, which are never as many
    // as the graph's: before an evaluation.
    void leave() { set_groups(schedule_, most_); }
    // Collective.
    BatchTotals totals(comm::Communicator& comm) const;

private:
    const Batches& batches() const { return *schedule_.numbering.batches; }
    data::Clones draw(std::int64_t epoch);

    Schedule schedule_;
    int group_;  // of the rank
    std::vector<std::int64_t> most_;
    std::shared_ptr<const exec::NumberedCounts> counts_;  // of no batches
    Normalisation normalisation_ = Normalisation::none;
    const data::DegreeScales* scales_ = nullptr;        // of the graph that batches are drawn from
    std::optional<data::DegreeScales> sampled_scales_;  // where that is not the whole one
    std::optional<sample::Walk> walk_;
    std::optional<sample::Induced> room_;
    std::vector<double> draw_seconds_, cut_seconds_;  // by epoch so far
    std::unique_ptr<DrawAhead> ahead_;                // null: no thread is free
};

}  // namespace gnnplan::deploy
