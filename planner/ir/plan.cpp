// Numbers that follow from a plan.
#include <gnnplan/ir/plan.hpp>

#include <algorithm>

namespace gnnplan {

std::optional<bool> RunRecord::drops_features() const {
    const std::optional<double> probability = input_dropout ? input_dropout : dropout;
    if (!probability) return std::nullopt;
    return *probability > 0;
}

double predicted_seconds(const Candidate& candidate, Phase phase) {
    double seconds = 0;
    for (std::size_t i = 0; i < candidate.schedule.steps.size(); ++i) {
        if (candidate.schedule.steps[i].phase == phase) seconds += candidate.predicted.step_seconds[i];
    }
    return seconds;
}

void leave_out_feature_dropout(const Schedule& schedule, Prediction& predicted) {
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        if (!dropped_features(schedule.steps[i].operation)) continue;
        double& seconds = predicted.step_seconds[i];
        if (schedule.steps[i].phase == Phase::epoch) predicted.epoch_seconds -= seconds;
        seconds = 0;
    }
}

bool draws_weighted(const Schedule& schedule) {
    return std::any_of(schedule.tensors.begin(), schedule.tensors.end(),
                       [](const Tensor& tensor) { return tensor.sample > 0 && !tensor.storage.factored; });
}

std::shared_ptr<const GraphStats> sizes_of(const Plan& plan, const Numbering& numbering) {
    const GraphRecord& graph = plan.problem.graph;
    const UniformStats all(graph.vertices, graph.nonzeros, graph.symmetric, 1, graph.edge_weights);
    return all.drawn(plan.problem.fanout, graph.self_loops, draws_weighted(plan.candidates.front().schedule))
        .with_replication(graph.replication)
        .with_groups(plan.candidates.front().schedule.grid.groups)
        .numbered(numbering);
}

std::int64_t automatic_eval_every(const Candidate& candidate) {
    const double evaluation = predicted_seconds(candidate, Phase::evaluation);
    const double epoch = candidate.predicted.epoch_seconds;
    constexpr std::int64_t most = 1'000'000;
    std::int64_t decade = 1;
    while (decade < most) {
        for (const std::int64_t factor : {1, 2, 5}) {
            const std::int64_t every = decade * factor;
            if (evaluation <= evaluation_share * static_cast<double>(every) * epoch) return every;
        }
        decade *= 10;
    }
    return epoch > 0 ? most : 1;
}

std::int64_t evaluations(std::int64_t epochs, std::int64_t eval_every) {
    return eval_every > 0 ? (epochs + eval_every - 1) / eval_every : 0;
}

}  // namespace gnnplan
