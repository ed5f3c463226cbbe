#include "tools/gnnplan/calibrate_epochs.hpp"

#include "planner/calibrate/learn.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/generate/generate.hpp"
#include "runtime/train/train.hpp"

#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gnnplan::tools {
namespace {

// A graph that is drawn, and the model that trains on it.
struct Drawn {
    std::string name;
    data::RmatOptions graph;
    ModelRecord model;
};

constexpr data::RmatOptions uniform{.a = 0.25, .b = 0.25, .c = 0.25, .d = 0.25};

Drawn drawn(const char* name, data::RmatOptions graph, std::int64_t vertices, std::int64_t degree, ModelRecord model,
            std::int64_t largest) {
    graph.vertices = std::clamp(largest / 4 / model.widths.front(), model.widths.back(), vertices);
    graph.nonzeros = degree * graph.vertices;
    graph.seed = 7;
    return {name, graph, models::with_defaults(std::move(model))};
}

// Short rows and long ones, hubs and none, widths that are whole vectors and others; maxima and attention.
std::vector<Drawn> drawn_problems(const EpochScope& scope) {
    const auto model = [](const char* name, std::vector<std::int64_t> widths) {
        ModelRecord record;
        record.name = name;
        record.widths = std::move(widths);
        return record;
    };
    std::vector<Drawn> problems;
    const auto add = [&](const char* name, const data::RmatOptions& graph, std::int64_t vertices, std::int64_t degree,
                         ModelRecord record) {
        problems.push_back(drawn(name, graph, vertices, degree, std::move(record), scope.largest));
    };
    add("calibration: R-MAT", {}, 60'000, 15, model("gcn", {128, 256, 41}));
    if (scope.quick) return problems;
    add("calibration: uniform", uniform, 150'000, 6, model("gcn", {300, 64, 100}));
    add("calibration: dense", {}, 20'000, 100, model("gcn", {602, 128, 128, 41}));
    ModelRecord maxima = model("sage", {128, 100, 64, 41});
    maxima.aggregator = "max";
    ModelRecord attention = model("gat", {128, 64, 40});
    attention.heads = 4;
    add("calibration: maxima", {}, 60'000, 15, maxima);
    add("calibration: attention", uniform, 60'000, 15, attention);
    return problems;
}

data::Dataset dataset_of(const Drawn& drawn) {
    data::Arrays arrays = data::arrays_of(data::generate_rmat(drawn.graph));
    arrays.name = drawn.name;
    arrays.features = drawn.model.widths.front();
    arrays.feature.assign(static_cast<std::size_t>(arrays.vertices * arrays.features), 0.5F);
    const auto classes = static_cast<std::int32_t>(drawn.model.widths.back());
    for (std::int32_t vertex = 0; vertex < arrays.vertices; ++vertex) {
        arrays.label.push_back(vertex % classes);
        arrays.subset.push_back(data::train);
    }
    data::DatasetOptions options;
    options.preparation.add_self_loops = models::matrix_of(drawn.model).self_loops;
    return data::make_dataset(std::move(arrays), options);
}

data::Dataset tiny_graph() {
    data::PlantedOptions options;
    options.vertices = 32;
    options.nonzeros = 128;
    options.classes = 2;
    options.features = 4;
    return data::make_dataset(data::arrays_of(data::generate_planted(options)));
}

Problem problem_of(const data::Dataset& dataset, const data::GraphCounts& counts, const ModelRecord& model, int ranks) {
    Problem problem;
    GraphRecord& graph = problem.record.graph;
    graph.name = "drawn";
    graph.source = "generated";
    graph.vertices = dataset.vertices();
    graph.nonzeros = dataset.nonzeros();
    graph.exact = true;
    graph.symmetric = dataset.graph().symmetric;
    graph.normalisation = models::matrix_of(model).normalisation;
    problem.record.model = model;
    problem.record.ranks = ranks;
    problem.ops = models::build(model);
    problem.graph = &counts;
    return problem;
}

// None where the ranks have no such plan.
std::optional<Plan> plan_of(const Problem& problem, const Machine& machine, SelectOptions options,
                            const data::Dataset& dataset) {
    options.alternatives = false;
    SelectResult result = select(problem, machine, options);
    if (!result) return std::nullopt;
    result.selection->plan.fingerprints.graph = dataset.fingerprint();
    return std::move(result.selection->plan);
}

// Both orders; on several ranks with redistributions, and with whatever 1D exchanges.
std::vector<SelectOptions> kinds_of_plans(std::size_t layers, int ranks) {
    std::vector<SelectOptions> kinds;
    for (const Order order : {Order::sparse_first, Order::dense_first}) {
        for (const char* scheme : {"rdm", "1d"}) {
            SelectOptions& options = kinds.emplace_back();
            options.forward = Orders(layers, order);
            if (ranks == 1) break;
            options.scheme = scheme;
        }
    }
    return kinds;
}

// The first of the candidates, and those whose steps are of a part of the model that none before has.
std::vector<std::size_t> different_ones(const std::vector<Candidate>& candidates) {
    std::set<ModelPart> seen;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::size_t before = seen.size();
        for (const Step& step : candidates[i].schedule.steps) {
            if (step.phase == Phase::epoch) seen.insert(part_of(step.operation));
        }
        if (seen.size() > before) chosen.push_back(i);
    }
    return chosen;
}

train::TrainOptions training(const TrainingRanks& ranks, std::int64_t epochs) {
    train::TrainOptions options;
    options.threads = ranks.threads;
    options.epochs = epochs;
    options.eval_every = 0;
    options.autotune = 0;
    options.device = ranks.device;
    options.communicator = ranks.communicator;
    return options;
}

// Drops features where the plan lets them vary, as it was predicted.
RunReport train_plan(const TrainingRanks& ranks, const Plan& plan, const data::Dataset& dataset) {
    constexpr std::int64_t epochs = 8;
    constexpr double dropout = 0.5;
    train::TrainOptions options = training(ranks, epochs);
    options.dropout = dropout;
    options.input_dropout = plan.candidates.front().configuration.constant_input ? 0 : dropout;
    return train::train(ranks.hosts, plan, dataset, options, {}, ranks.clock);
}

}  // namespace

Sample measure_step(const TrainingRanks& ranks, const Machine& machine) {
    const data::Dataset dataset = tiny_graph();
    const data::GraphCounts counts(dataset.graph(), dataset.subset());
    ModelRecord model;
    model.widths = {dataset.features(), 4, dataset.classes()};
    const Problem problem = problem_of(dataset, counts, model, 1);
    const Plan plan = plan_of(problem, machine, {}, dataset).value();
    const auto steps = std::ranges::count(plan.candidates.front().schedule.steps, Phase::epoch, &Step::phase);
    constexpr std::int64_t epochs = 500;
    comm::SelfCommunicator self;
    ranks.hosts.barrier();
    const RunReport report = train::train(self, plan, dataset, training(ranks, epochs), {}, ranks.clock);
    const double seconds = report.measured.epoch_seconds / static_cast<double>(steps);
    return {"step", {steps}, {comm::control_max(ranks.hosts, seconds)}};
}

std::vector<EpochStep> measure_epochs(const TrainingRanks& ranks, const Machine& machine, const EpochScope& scope) {
    std::vector<EpochStep> steps;
    int run = 0;
    for (const Drawn& each : drawn_problems(scope)) {
        const data::Dataset dataset = dataset_of(each);
        const data::GraphCounts counts(dataset.graph(), dataset.subset());
        const Problem problem = problem_of(dataset, counts, each.model, ranks.hosts.size());
        for (const SelectOptions& options : kinds_of_plans(each.model.widths.size() - 1, ranks.hosts.size())) {
            std::optional<Plan> plan = plan_of(problem, machine, options, dataset);
            if (!plan) continue;
            const std::vector<Candidate> candidates = std::exchange(plan->candidates, {});
            for (const std::size_t i : different_ones(candidates)) {
                plan->candidates = {candidates[i]};
                std::ranges::move(calibrate::epoch_steps(machine, train_plan(ranks, *plan, dataset), each.name, run),
                                  std::back_inserter(steps));
                ++run;
            }
        }
    }
    return steps;
}

}  // namespace gnnplan::tools
