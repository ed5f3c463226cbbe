#include "tools/gnnplan/calibrate_step.hpp"

#include "planner/catalog/machines.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/generate/generate.hpp"
#include "runtime/train/train.hpp"

#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::tools {
namespace {

data::Dataset tiny_graph() {
    data::PlantedOptions options;
    options.vertices = 32;
    options.nonzeros = 128;
    options.classes = 2;
    options.features = 4;
    return data::make_dataset(data::arrays_of(data::generate_planted(options)));
}

Plan plan_for(const data::Dataset& dataset) {
    const data::GraphCounts counts(dataset.graph(), dataset.subset());
    Problem problem;
    GraphRecord& graph = problem.record.graph;
    graph.name = "tiny";
    graph.source = "generated";
    graph.vertices = dataset.vertices();
    graph.nonzeros = dataset.nonzeros();
    graph.exact = true;
    graph.symmetric = dataset.graph().symmetric;
    problem.record.model.name = "gcn";
    problem.record.model.widths = {dataset.features(), 4, dataset.classes()};
    problem.record.ranks = 1;
    problem.ops = models::gcn(problem.record.model.widths, false);
    problem.graph = &counts;
    SelectOptions options;
    options.candidates = 1;
    options.alternatives = false;
    SelectResult result = select(problem, catalog::find_machine("cpu-node"), options);
    if (!result) throw Error(result.code, result.message);
    result.selection->plan.fingerprints.graph = dataset.fingerprint();
    return std::move(result.selection->plan);
}

}  // namespace

Sample measure_step(const calibrate::Setting& setting) {
    const data::Dataset dataset = tiny_graph();
    const Plan plan = plan_for(dataset);
    const auto steps = std::ranges::count(plan.candidates.front().schedule.steps, Phase::epoch, &Step::phase);
    train::TrainOptions options;
    options.epochs = 500;
    options.eval_every = 0;
    options.autotune = 0;
    options.device = [&setting] { return kernels::host_device(setting.kernels); };
    comm::SelfCommunicator self;
    setting.comm.barrier();
    const RunReport report = train::train(self, plan, dataset, options, {}, setting.clock);
    const double seconds = report.measured.epoch_seconds / static_cast<double>(steps);
    return {"step", {steps}, {comm::control_max(setting.comm, seconds)}};
}

}  // namespace gnnplan::tools
