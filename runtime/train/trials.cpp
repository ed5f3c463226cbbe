#include "runtime/train/trials.hpp"

#include "runtime/exec/store.hpp"
#include "runtime/train/footprint.hpp"

#include <algorithm>

namespace gnnplan::train {
namespace {

const Candidate& candidate(const Plan& plan, int index) { return plan.candidates[static_cast<std::size_t>(index)]; }

// By place in `usable`.
std::vector<std::int64_t> trial_bytes(const Plan& plan, const std::vector<int>& usable, const data::Dataset& dataset) {
    std::vector<std::int64_t> bytes(usable.size(), -1);
    for (std::size_t i = 0; i < usable.size(); ++i) {
        if (bytes[i] >= 0) continue;
        const Schedule& first = candidate(plan, usable[i]).schedule;
        const auto counts = counts_for(first, dataset);
        for (std::size_t j = i; j < usable.size(); ++j) {
            const Schedule& schedule = candidate(plan, usable[j]).schedule;
            if (schedule.numbering != first.numbering) continue;
            bytes[j] = footprint(schedule, *counts, {.state_lives = true, .graph_stays = true});
        }
    }
    return bytes;
}

// The number of the blocks that a candidate cuts: that of an earlier trial with the same ones, or its own.
int blocks_of(const Plan& plan, const std::vector<Trial>& earlier, int index) {
    const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const Trial& trial) {
        return exec::same_blocks(candidate(plan, trial.candidate).schedule, candidate(plan, index).schedule);
    });
    return same == earlier.end() ? index : same->blocks;
}

}  // namespace

std::shared_ptr<const exec::GraphCounts> counts_for(const Schedule& schedule, const data::Dataset& dataset) {
    const exec::GraphCounts counts(dataset.graph(), dataset.subset());
    return std::dynamic_pointer_cast<const exec::GraphCounts>(counts.numbered(schedule.numbering));
}

Trials fitting_trials(const Plan& plan, const std::vector<int>& usable, const data::Dataset& dataset) {
    const std::vector<std::int64_t> bytes = trial_bytes(plan, usable, dataset);
    const std::int64_t room = plan.machine.memory_per_rank;
    Trials fitting{{}, room};
    for (std::size_t i = 0; i < usable.size(); ++i) {
        if (bytes[i] > room) continue;
        const int index = usable[i];
        fitting.spare_bytes = std::min(fitting.spare_bytes, room - bytes[i]);
        fitting.trials.push_back(
            {index, candidate(plan, index).predicted.epoch_seconds, blocks_of(plan, fitting.trials, index)});
    }
    return fitting;
}

}  // namespace gnnplan::train
