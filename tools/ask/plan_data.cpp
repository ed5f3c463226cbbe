#include "tools/ask/plan_data.hpp"

#include "runtime/data/dataset.hpp"
#include "runtime/load/predict.hpp"
#include "runtime/load/predict_features.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {
namespace {

// Reads the graph's file and the ids of features once more, as the ranks of the plan will, and notes in each candidate
// what they send. Does nothing for candidates that load the graph whole.
void predict_dealing(Plan& plan, const data::Dataset& whole) {
    std::vector<Candidate*> sharded;
    std::vector<const Schedule*> schedules;
    for (Candidate& candidate : plan.candidates) {
        if (candidate.schedule.loading != Loading::sharded) continue;
        sharded.push_back(&candidate);
        schedules.push_back(&candidate.schedule);
    }
    if (sharded.empty()) return;
    const GraphRecord& graph = plan.problem.graph;
    data::DatasetOptions options;
    options.preparation = {graph.symmetrised, graph.self_loops, graph.edge_weights};
    options.index_base = graph.index_base == 1 ? data::IndexBase::one : data::IndexBase::zero;
    options.graph_only = true;
    options.in_shares = graph.vertices;
    const data::Dataset dataset = data::open_dataset(whole.report().path, options);
    const load::Dealing dealing = load::predict_dealing(dataset, schedules, graph.normalisation, graph.symmetric);
    plan.fingerprints.listing = dealing.listing;
    for (std::size_t i = 0; i < sharded.size(); ++i) sharded[i]->predicted.dealt_bytes = dealing.bytes[i];
    const load::Dealing features = load::predict_features(whole, schedules);
    plan.fingerprints.feature_listing = features.listing;
    for (std::size_t i = 0; i < features.bytes.size(); ++i) sharded[i]->predicted.feature_bytes = features.bytes[i];
}

}  // namespace

void note_data(Plan& plan, const LoadedProblem& loaded) {
    if (!loaded.dataset) return;
    plan.fingerprints = data::fingerprints_of(*loaded.dataset);
    predict_dealing(plan, *loaded.dataset);
}

}  // namespace gnnplan::tools
