#include "planner/cost/predict.hpp"

#include "planner/cost/time.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>

namespace gnnplan::cost {

Prediction predict(const Schedule& schedule, const GraphStats& graph, const Machine& machine) {
    return predict(schedule, graph, machine, peak_bytes_per_rank(schedule, graph, machine.accelerators));
}

Prediction predict(const Schedule& schedule, const GraphStats& graph, const Machine& machine, std::int64_t peak_bytes) {
    Prediction prediction;
    const CostedRanks ranks = ranks_to_cost(schedule, graph, machine);
    for (const Step& step : schedule.steps) {
        const double seconds = step_seconds(schedule, step, graph, machine, ranks);
        prediction.step_seconds.push_back(seconds);
        if (step.phase == Phase::epoch) prediction.epoch_seconds += seconds;
    }
    const TrafficTotal traffic = total_traffic(schedule, Phase::epoch, graph);
    prediction.total_bytes = traffic.total_bytes;
    prediction.max_rank_bytes = traffic.max_rank_bytes;
    prediction.peak_bytes_per_rank = peak_bytes;
    prediction.estimate = !graph.exact();
    return prediction;
}

}  // namespace gnnplan::cost
