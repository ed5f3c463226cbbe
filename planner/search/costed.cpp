#include "planner/search/costed.hpp"

#include "planner/cost/batches.hpp"
#include "planner/cost/likely.hpp"
#include "planner/cost/loading.hpp"
#include "planner/cost/predict.hpp"
#include "planner/lower/lower.hpp"

namespace gnnplan::search {

const GraphStats& NumberedGraphs::numbered(const Numbering& numbering) {
    if (numbering.identity()) return graph_;
    for (const auto& [known, view] : graphs_) {
        if (known == numbering) return *view;
    }
    graphs_.emplace_back(numbering, graph_.numbered(numbering));
    return *graphs_.back().second;
}

namespace {

Prediction as_runs_will(const Space& space, const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                        Prediction predicted) {
    if (!space.options.drops_features.value_or(true)) leave_out_feature_dropout(schedule, predicted);
    if (!space.model.trains())
        predicted.loading = cost::loading_seconds(schedule, graph, space.record, space.listing, machine);
    if (space.batches) {
        predicted.batch_seconds =
            cost::batch_seconds(*space.batches, schedule.grid, space.model.at(0).width, graph, machine);
        predicted.epoch_seconds += predicted.batch_seconds;
    }
    if (space.ranks_kept()) cost::add_kept(schedule, space.epochs, predicted);
    if (space.drops_attention) cost::add_attention_dropout(schedule, graph, machine, predicted);
    cost::split_into_parts(schedule, machine, predicted);
    return predicted;
}

}  // namespace

Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                   std::int64_t peak_bytes) {
    return as_runs_will(space, schedule, graph, machine, cost::predict(schedule, graph, machine, peak_bytes));
}

Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, SharedCosts& costs,
                   std::int64_t peak_bytes) {
    std::vector<double> seconds = costs.of(schedule, graph).seconds(schedule);
    return as_runs_will(space, schedule, graph, costs.machine(),
                        cost::predict(schedule, graph, std::move(seconds), peak_bytes));
}

Lowered lowered(const Space& space, const Configuration& configuration, NumberedGraphs& graphs) {
    Lowered made{lower::lower(space.model, configuration, space.shape)};
    const std::int64_t bytes = space.options.buffer_bytes;
    if (bytes > 0)
        made.needed_buffer =
            lower::bound_buffers(made.schedule, graphs.numbered(made.schedule.numbering), bytes, graphs.cuts);
    return made;
}

std::optional<Candidate> cost_if_bounded(const Space& space, const Configuration& configuration, const Machine& machine,
                                         NumberedGraphs& graphs) {
    Lowered made = lowered(space, configuration, graphs);
    if (!made.fits()) return std::nullopt;
    Candidate candidate;
    candidate.configuration = configuration;
    candidate.schedule = std::move(made.schedule);
    const GraphStats& graph = graphs.numbered(candidate.schedule.numbering);
    candidate.predicted = predict(space, candidate.schedule, graph, machine,
                                  peak_bytes_per_rank(candidate.schedule, graph, machine.tensor_memory()));
    return candidate;
}

Candidate cost_configuration(const Space& space, const Configuration& configuration, const Machine& machine,
                             NumberedGraphs& graphs) {
    std::optional<Candidate> costed = cost_if_bounded(space, configuration, machine, graphs);
    ensure(costed.has_value(), "a configuration that is costed keeps to the bound on buffers");
    return *std::move(costed);
}

}  // namespace gnnplan::search
