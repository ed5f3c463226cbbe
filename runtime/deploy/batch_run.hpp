// A schedule whose groups train on other batches in every epoch: its rows follow them.
#pragma once

#include "runtime/deploy/fitting.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/sample/walk.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::deploy {

class BatchRun {
public:
    explicit BatchRun(const Schedule& planned) : schedule_(planned), most_(planned.grid.groups) {}

    // The schedule to build the executor for, which has room for the largest batches until an epoch takes others.
    const Schedule& schedule() const { return schedule_; }
    // `counts` are those of the schedule as it was planned.
    void begin(std::shared_ptr<const exec::NumberedCounts> counts);
    bool has_begun() const { return most_counts_ != nullptr; }

    // The batches of an epoch, from 1 on, in the executor's groups.
    std::shared_ptr<const exec::NumberedCounts> take(std::int64_t epoch, const data::DegreeScales& whole,
                                                     Normalisation normalisation, const data::Dataset& dataset,
                                                     exec::Executor& executor);
    // Rows of the whole graph are where the plan has them only while groups have the most rows, which are never as many
    // as the graph's: before an evaluation.
    void leave() { set_groups(schedule_, most_); }

private:
    Schedule schedule_;
    std::vector<std::int64_t> most_;
    std::shared_ptr<const exec::NumberedCounts> most_counts_;
    std::optional<sample::Walk> walk_;
    std::optional<sample::Induced> room_;
};

}  // namespace gnnplan::deploy
