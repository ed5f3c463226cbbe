#include "planner/cost/predict.hpp"

#include "planner/cost/product_time.hpp"
#include "planner/cost/time.hpp"
#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::cost {

Prediction predict(const Schedule& schedule, const GraphStats& graph, const Machine& machine) {
    return predict(schedule, graph, machine, peak_bytes_per_rank(schedule, graph, machine.tensor_memory()));
}

Prediction predict(const Schedule& schedule, const GraphStats& graph, const Machine& machine, std::int64_t peak_bytes) {
    RanksOfSteps ranks(ranks_to_cost(schedule, graph, machine), machine);
    std::vector<double> seconds;
    seconds.reserve(schedule.steps.size());
    for (const Step& step : schedule.steps)
        seconds.push_back(step_seconds(schedule, step, graph, machine, ranks.of(schedule, step, graph)));
    return predict(schedule, graph, std::move(seconds), peak_bytes);
}

Prediction predict(const Schedule& schedule, const GraphStats& graph, std::vector<double> step_seconds,
                   std::int64_t peak_bytes) {
    Prediction prediction;
    for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
        const Phase phase = schedule.steps[step].phase;
        if (phase == Phase::epoch) prediction.epoch_seconds += step_seconds[step];
        if (phase == Phase::setup && schedule.output) prediction.setup_seconds += step_seconds[step];
    }
    prediction.step_seconds = std::move(step_seconds);
    const TrafficTotal traffic = total_traffic(schedule, Phase::epoch, graph);
    prediction.total_bytes = traffic.total_bytes;
    prediction.max_rank_bytes = traffic.max_rank_bytes;
    prediction.peak_bytes_per_rank = peak_bytes;
    prediction.estimate = !graph.exact();
    return prediction;
}

void add_kept(const Schedule& schedule, std::int64_t epochs, Prediction& prediction) {
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        if (schedule.steps[i].makes_kept())
            prediction.kept_seconds += prediction.step_seconds[i] / static_cast<double>(epochs);
    }
}

double attention_dropout_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph,
                                 const Machine& machine, const CostedRanks& on) {
    const auto* product = std::get_if<SpmmStep>(&step.operation);
    if (!machine.calibration || product == nullptr || !product->attending.dropout || step.phase != Phase::epoch)
        return 0;
    double most = 0;
    for (const int rank : on.ranks) {
        const std::int64_t nonzeros = multiplied_nonzeros(schedule, product->matrix, graph, rank);
        const auto seconds = [&](bool dropout) {
            return product_seconds(schedule, *product, graph, machine, rank, nonzeros, dropout);
        };
        most = std::max(most, seconds(true) - seconds(false));
    }
    return most;
}

void add_attention_dropout(const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                           Prediction& prediction) {
    const CostedRanks on = ranks_to_cost(schedule, graph, machine);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const double seconds = attention_dropout_seconds(schedule, schedule.steps[i], graph, machine, on);
        prediction.step_seconds[i] += seconds;
        prediction.epoch_seconds += seconds;
    }
}

}  // namespace gnnplan::cost
