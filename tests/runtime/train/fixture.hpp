// Plans over tiny graphs, and clocks that say what a test wants.
#pragma once

#include "planner/cost/predict.hpp"
#include "planner/enumerate/memoization.hpp"
#include "planner/enumerate/orders.hpp"
#include "planner/lower/lower.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/train/train.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/tiny_graphs.hpp"

#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::train::testing {

// A candidate by its R_A and its id in the paper space.
struct Choice {
    int replication = 1;
    int id = 0;
    bool constant_input = false;
    bool cached_aggregation = false;
};

inline Machine some_machine() {
    Machine machine;
    machine.name = "test";
    machine.memory_per_rank = std::int64_t{1} << 30;
    machine.intra_node = machine.inter_node = {1e-6, 1e10};
    machine.spmm = {{1, 1e9}, {64, 4e9}};
    machine.gemm_flops_per_second = 1e10;
    machine.memory_bytes_per_second = 1e10;
    machine.step_seconds = 1e-6;
    gnnplan::testing::describe_wanted_device(machine);
    return machine;
}

inline Plan make_plan(const data::Dataset& dataset, std::int64_t hidden, bool bias, int ranks,
                      const std::vector<Choice>& choices, Optimiser optimiser = Optimiser::adam) {
    const std::vector<std::int64_t> widths = {dataset.features(), hidden, dataset.classes()};
    const exec::GraphCounts counts(dataset.graph());
    Plan plan;
    plan.machine = some_machine();
    plan.problem.ranks = ranks;
    plan.problem.model.widths = widths;
    plan.problem.model.bias = bias;
    plan.problem.graph.vertices = dataset.vertices();
    plan.problem.graph.nonzeros = dataset.nonzeros();
    plan.problem.graph.symmetric = dataset.graph().symmetric;
    plan.problem.graph.edge_weights = dataset.report().weighted;
    plan.fingerprints.graph = dataset.fingerprint();
    plan.problem.run.optimiser = optimiser;
    plan.problem.run.momentum = optimiser == Optimiser::momentum ? 0.5 : 0;
    const SiteGraph model = sites_of(models::gcn(widths, bias));
    const auto orders = enumerate::all_orders(2);
    for (const Choice& choice : choices) {
        const auto& pair = orders[static_cast<std::size_t>(choice.id)];
        Candidate& candidate = plan.candidates.emplace_back();
        Configuration& configuration = candidate.configuration;
        configuration.id = choice.id;
        configuration.grid = {ranks / choice.replication, choice.replication, 1};
        configuration.forward = pair.forward;
        configuration.backward = pair.backward;
        configuration.operands = enumerate::paper_operands(pair.forward, pair.backward, widths);
        configuration.constant_input = choice.constant_input;
        configuration.cached_aggregation = choice.cached_aggregation;
        if (choice.cached_aggregation) configuration.operands.front() = Operand::product;
        configuration.exchange = configuration.grid.x > 1 ? Exchange::panels : Exchange::none;
        lower::GraphShape shape{dataset.vertices(), dataset.graph().symmetric, {}, 0};
        shape.optimiser = optimiser;
        shape.blocking = plan.machine.blocking;
        candidate.schedule = lower::lower(model, configuration, shape);
        candidate.predicted = cost::predict(candidate.schedule, counts, plan.machine);
    }
    validate(plan);
    return plan;
}

inline data::Dataset open(const gnnplan::testing::TinyGraph& graph) {
    const gnnplan::testing::TemporaryFolder folder;
    write_ogb(graph, folder.path() / "graph");
    data::Dataset dataset = data::open_dataset(folder.path() / "graph");
    dataset.cache_features();
    return dataset;
}

// Each look moves time on by `tick` seconds.
class FakeClock final : public measure::Clock {
public:
    double now() override { return time_ += tick; }
    double tick = 1;

private:
    double time_ = 0;
};

// The results of a training on one rank.
struct Trained {
    RunReport report;
    std::vector<int> candidates;                 // in the order they were built
    std::vector<std::vector<float>> parameters;  // of the last epoch, after each update, in the order of updates
    std::int64_t releases = 0;
    std::int64_t caches = 0;            // of the features
    std::vector<TrainingState> states;  // after each epoch
};

// Whether a rank that is asked for the n-th time wants to stop, and why.
using Stop = std::function<std::optional<std::string>(int rank, std::int64_t asked)>;

inline TrainOptions on_tested_device(TrainOptions options) {
    if (const auto wanted = gnnplan::testing::wanted_device()) {
        options.device = wanted->open;
        options.communicator = wanted->communicator;
    }
    return options;
}

// `tick(rank, candidate)`: seconds between two looks at that rank's clock while that candidate trains.
template <class Tick>
std::vector<Trained> train_ranks(const Plan& plan, const data::Dataset& dataset, const TrainOptions& options,
                                 Tick&& tick, const Stop& stop = {}) {
    std::vector<Trained> ranks(static_cast<std::size_t>(plan.problem.ranks));
    comm::run_ranks(plan.problem.ranks, [&](comm::Communicator& comm) {
        Trained& mine = ranks[static_cast<std::size_t>(comm.rank())];
        FakeClock clock;
        TrainHooks hooks;
        hooks.candidate = [&](int candidate) {
            mine.candidates.push_back(candidate);
            clock.tick = tick(comm.rank(), candidate);
        };
        hooks.step = [&](std::int64_t epoch, const Step& step, const exec::Executor& executor) {
            const auto* update = std::get_if<UpdateStep>(&step.operation);
            if (update == nullptr || epoch != options.epochs) return;
            const auto values = executor.values(tensor_of(executor.schedule(), update->weight).name);
            mine.parameters.emplace_back(values.begin(), values.end());
        };
        hooks.epoch_end = [&](const EpochEnd& end) { mine.states.push_back(end.state()); };
        hooks.data.release_graph = [&] { ++mine.releases; };
        hooks.data.cache_features = [&] { ++mine.caches; };
        std::int64_t asked = 0;
        if (stop) hooks.stop = [&] { return stop(comm.rank(), ++asked); };
        mine.report = train(comm, plan, dataset, on_tested_device(options), hooks, clock);
    });
    return ranks;
}

inline double steady_tick(int, int) { return 1; }

// Trainings of a small graph with dropout, whose epochs are all evaluated.
class SmallTrainings : public ::testing::Test {
protected:
    explicit SmallTrainings(std::int64_t epochs) {
        options_.epochs = epochs;
        options_.dropout = 0.25;
        options_.eval_every = 1;
        options_.autotune = 0;
    }

    std::vector<Trained> run(const Plan& plan) const { return train_ranks(plan, dataset_, options_, steady_tick); }
    Plan plan(int ranks, const std::vector<Choice>& choices) const {
        return make_plan(dataset_, 5, true, ranks, choices);
    }

    data::Dataset dataset_ = open(gnnplan::testing::random_symmetric(19, 3, 6, 3, 2));
    TrainOptions options_;
};

}  // namespace gnnplan::train::testing
