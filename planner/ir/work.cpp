#include <gnnplan/ir/work.hpp>

#include <algorithm>

namespace gnnplan {

RankWork work_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    return std::visit([&](const auto& operation) { return operation.work(schedule, graph, rank); }, step.operation);
}

double sparse_imbalance(const Schedule& schedule, const GraphStats& graph) {
    double busiest = 0;
    double sum = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        double flops = 0;
        for (const Step& step : schedule.steps) {
            const bool product = product_of(step.operation) != nullptr && step.phase == Phase::epoch;
            if (product) flops += work_of(schedule, step, graph, rank).sparse_flops;
        }
        busiest = std::max(busiest, flops);
        sum += flops;
    }
    return sum > 0 ? busiest * schedule.grid.size() / sum : 1;
}

}  // namespace gnnplan
