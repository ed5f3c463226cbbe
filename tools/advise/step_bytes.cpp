#include "tools/advise/step_bytes.hpp"

#include <gnnplan/ir/traffic.hpp>

namespace gnnplan::tools {
std::int64_t StepBytes::of_epoch(const Schedule& schedule, const GraphStats& graph) {
    std::int64_t bytes = 0;
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        const auto [known, is_new] = known_.try_emplace(signature_of(schedule, step.operation), 0);
        if (is_new) {
            Schedule alone = schedule;
            alone.steps = {step};
            known->second = total_traffic(alone, Phase::epoch, graph).total_bytes;
        }
        bytes += known->second;
    }
    return bytes;
}

}  // namespace gnnplan::tools
