#include "runtime/train/trials.hpp"

#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/footprint.hpp"
#include "runtime/exec/store.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>

namespace gnnplan::train {
namespace {

const Candidate& candidate(const Plan& plan, int index) { return plan.candidates[static_cast<std::size_t>(index)]; }

// The number of the blocks that a candidate cuts: that of an earlier trial with the same ones, or its own.
int blocks_of(const Plan& plan, const std::vector<Trial>& earlier, int index) {
    const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const Trial& trial) {
        return exec::same_blocks(candidate(plan, trial.candidate).schedule, candidate(plan, index).schedule);
    });
    return same == earlier.end() ? index : same->blocks;
}

}  // namespace

Trials fitting_trials(const Plan& plan, const std::vector<int>& usable, const GraphStats& graph, bool keeps_features,
                      const TensorMemory& memory) {
    const std::vector<std::int64_t> bytes =
        deploy::bytes_by_candidate(plan, usable, graph, [&](const Schedule& schedule, const GraphStats& counts) {
            return deploy::footprint(schedule, counts, {.state_lives = true, .graph_stays = true}, memory).tensors;
        });
    const std::int64_t room = plan.memory_per_rank();
    Trials fitting;
    if (bytes.front() > room) return fitting;
    for (std::size_t i = 0; i < usable.size(); ++i) {
        if (bytes[i] > room) continue;
        const int index = usable[i];
        fitting.peak_bytes = std::max(fitting.peak_bytes, bytes[i]);
        fitting.trials.push_back(
            {index, candidate(plan, index).predicted.epoch_seconds, blocks_of(plan, fitting.trials, index)});
    }
    const std::int64_t features =
        checked_multiply(checked_multiply(4, graph.vertices()), plan.problem.model.widths.front());
    // A plan does not say how much memory the host of an accelerator has left.
    if (keeps_features && !memory.accelerator && features <= room - fitting.peak_bytes) {
        fitting.feature_bytes = features;
        fitting.peak_bytes += features;
    }
    return fitting;
}

}  // namespace gnnplan::train
