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
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace gnnplan::tools {
namespace {

// A folder that is removed.
class Scratch {
public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "gnnplan-calibrate-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::cannot_create, "cannot create a folder", name);
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string operator/(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

data::Dataset tiny_graph() {
    const Scratch scratch;
    data::PlantedOptions options;
    options.vertices = 32;
    options.nonzeros = 128;
    options.classes = 2;
    options.features = 4;
    const std::string file = scratch / "tiny.npz";
    data::write_graph(data::generate_planted(options), file);
    data::Dataset dataset = data::open_dataset(file);
    dataset.cache_features();
    return dataset;
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
    problem.ops = models::build("gcn", problem.record.model.widths, false);
    problem.graph = &counts;
    SelectOptions options;
    options.candidates = 1;
    SelectResult result = select(problem, catalog::find_machine("cpu-node"), options);
    if (!result) throw Error(result.code, result.message);
    result.selection->plan.fingerprints.graph = dataset.fingerprint();
    return std::move(result.selection->plan);
}

}  // namespace

Sample measure_step(const calibrate::Setting& setting) {
    // In turns: libzip was seen to refuse an archive when ranks that are threads opened one each at the same time.
    std::optional<data::Dataset> made;
    for (int turn = 0; turn < setting.comm.size(); ++turn) {
        if (turn == setting.comm.rank()) made.emplace(tiny_graph());
        setting.comm.barrier();
    }
    const data::Dataset& dataset = *made;
    const Plan plan = plan_for(dataset);
    const auto steps = std::ranges::count(plan.candidates.front().schedule.steps, Phase::epoch, &Step::phase);
    train::TrainOptions options;
    options.epochs = 500;
    options.eval_every = 0;
    options.autotune = 0;
    options.kernels = &setting.kernels;
    comm::SelfCommunicator self;
    setting.comm.barrier();
    const RunReport report = train::train(self, plan, dataset, options, {}, setting.clock);
    const double seconds = report.measured.epoch_seconds / static_cast<double>(steps);
    return {"step", {steps}, calibrate::gather_values(setting.comm, seconds)};
}

}  // namespace gnnplan::tools
