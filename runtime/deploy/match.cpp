#include "runtime/deploy/match.hpp"

#include "runtime/graph/fingerprint.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace gnnplan::deploy {
namespace {

constexpr const char* plan_again = "plan again with `graph` and this path";

// `unread`: what they may be among of the data that is not read.
void require_equal(const char* what, std::int64_t planned, std::int64_t found, const std::string& unread = {}) {
    if (planned == found) return;
    throw Error(ErrorCode::mismatch,
                "the plan is for " + std::to_string(planned) + " " + what + ", the data has " + std::to_string(found),
                "data", found > 0 || unread.empty() ? plan_again : "they may be among what is not read: " + unread);
}

// A plan made without the data, or by an earlier version, has no fingerprint.
void require_same(const char* what, const std::string& planned, const std::string& found,
                  const data::Dataset& dataset) {
    if (planned.empty() || planned == found) return;
    throw Error(ErrorCode::mismatch,
                std::string("the ") + what + " are not those that the plan was made for: they were changed since",
                dataset.report().path, plan_again);
}

// A plan made from sizes counts nonzeros as its author did; twice as many or half as many is another graph.
std::vector<std::string> match_nonzeros(std::int64_t planned, std::int64_t found) {
    if (planned == found) return {};
    const std::string text = "the plan was made for " + std::to_string(planned) + " nonzeros, the graph has " +
                             std::to_string(found) + " (self loops included)";
    if (found > 2 * planned || planned > 2 * found) {
        throw Error(ErrorCode::mismatch, text, "data", plan_again);
    }
    return {text + ": memory is counted again on this graph, times stay as predicted"};
}

// The facts of a graph, loaded whole or in shares.
struct FoundGraph {
    const data::LoadReport& report;
    const std::string& fingerprint;
    bool symmetric;
};

[[noreturn]] void refuse_graph(const GraphRecord& planned, const std::string& path, const std::string& theirs,
                               const std::string& ours) {
    const bool named = !planned.name.empty() && planned.name != "sizes";
    throw Error(ErrorCode::mismatch,
                "this plan is for " + (named ? planned.name : "another graph") + ", not " + path +
                    ": the plan's graph has " + theirs + ", the data has " + ours,
                {}, plan_again);
}

void require_vertices(const GraphRecord& planned, const std::string& path, std::int64_t found) {
    if (planned.vertices != found)
        refuse_graph(planned, path, std::to_string(planned.vertices) + " vertices", std::to_string(found));
}

// That the graph is the plan's, before anything is said of what else the data has.
void match_graph(const GraphRecord& planned, const std::string& fingerprint, const FoundGraph& found) {
    require_vertices(planned, found.report.path, found.report.vertices);
    if (!fingerprint.empty() && fingerprint != found.fingerprint)
        refuse_graph(planned, found.report.path, "the fingerprint " + fingerprint, found.fingerprint);
    if (planned.symmetric && !found.symmetric) {
        const bool by_weights = found.report.weights_only_directed;
        throw Error(ErrorCode::mismatch,
                    std::string("the plan is for a symmetric graph, this one is directed") +
                        (by_weights ? ": some edges and their reverses differ in weight" : ""),
                    "data", "plan again with `symmetrise`, or with `graph` and this path");
    }
    match_nonzeros(planned.nonzeros, found.report.nonzeros);
}

FoundGraph found_in(const data::Dataset& dataset) {
    return {dataset.report(), dataset.fingerprint(), dataset.graph().symmetric};
}

// Labels that are all known are those of a loss that asks which are, too.
void match_loss(Loss planned, const data::Dataset& dataset) {
    const Loss found = dataset.loss();
    if (planned == found || (planned == Loss::masked_sigmoid && found == Loss::sigmoid)) return;
    const char* const has = found == Loss::softmax   ? "one class for each vertex"
                            : found == Loss::sigmoid ? "several labels for each vertex"
                                                     : "labels that are not known";
    const char* const wants =
        planned == Loss::softmax ? "one class for each vertex" : "several labels that are all known";
    std::string fits(name_of(found));
    std::ranges::replace(fits, '_', '-');  // as options have it
    throw Error(ErrorCode::mismatch, std::string("the plan is for ") + wants + ", the data has " + has,
                dataset.report().path, std::string(plan_again) + ", or with `loss " + fits + "`");
}

}  // namespace

void match_features(const Plan& plan, const data::Dataset& dataset, std::uint64_t sum) {
    require_same("features", plan.fingerprints.features, data::feature_fingerprint(sum), dataset);
}

data::DatasetOptions dataset_options(const Plan& plan, FeatureNorm feature_norm) {
    const GraphRecord& graph = plan.problem.graph;
    data::DatasetOptions options;
    options.preparation = {graph.symmetrised, graph.self_loops, graph.edge_weights};
    options.index_base = graph.index_base == 1 ? data::IndexBase::one : data::IndexBase::zero;
    options.split = graph.split;
    options.generate_features = graph.generated_features;
    // A plan of this very data may have more classes than the labels name, as its user declared.
    const bool labelled = plan.problem.task == Task::train;
    if (labelled) options.generate_classes = graph.exact ? plan.problem.model.widths.back() : graph.generated_classes;
    options.generate_several = several_labels(plan.problem.model.loss);
    options.seed = graph.seed;
    options.fanout = plan.problem.fanout;
    options.drawn_weighted = draws_weighted(plan.candidates.front().schedule);
    options.feature_norm = feature_norm;
    options.check_graph = [planned = graph, fingerprint = plan.fingerprints.graph](const data::Dataset& dataset) {
        match_graph(planned, fingerprint, found_in(dataset));
    };
    const bool shares = plan.candidates.front().schedule.loading == Loading::sharded;
    options.supervised = labelled ? data::Supervised::yes : data::Supervised::where_there;
    options.in_shares = shares ? graph.vertices : 0;
    options.expected_fingerprint = plan.fingerprints.graph;
    return options;
}

void match_vertices(const Plan& plan, const std::filesystem::path& path, data::DatasetOptions options) {
    if (options.in_shares == 0) return;
    options.graph_only = true;
    const data::Dataset dataset = data::open_dataset(path, options);
    const data::ParsedGraph found = dataset.read_share({}, [](const auto&, const auto&) {});
    require_vertices(plan.problem.graph, path.string(), found.vertices);
}

std::vector<std::string> match_share(const Plan& plan, const load::GraphShare& share) {
    match_graph(plan.problem.graph, plan.fingerprints.graph, {share.report, share.fingerprint, share.graph.symmetric});
    return match_nonzeros(plan.problem.graph.nonzeros, share.report.nonzeros);
}

std::vector<std::string> match_data(const Plan& plan, const data::Dataset& dataset) {
    if (!plan.problem.graph.generate) data::check_generated(dataset.report());
    const auto& widths = plan.problem.model.widths;
    const bool whole = !dataset.in_shares();
    if (whole) match_graph(plan.problem.graph, plan.fingerprints.graph, found_in(dataset));
    require_equal("features", widths.front(), dataset.features(),
                  dataset.report().leftovers.names({&data::Unread::features}));
    const auto nonzeros = [&] {
        return whole ? match_nonzeros(plan.problem.graph.nonzeros, dataset.nonzeros()) : std::vector<std::string>();
    };
    if (plan.problem.task == Task::infer) return nonzeros();
    if (dataset.report().labels_generated && plan.problem.graph.generated_classes == 0) {
        throw Error(ErrorCode::mismatch, "the data has no labels, the plan was made for data with labels", "data",
                    plan_again);
    }
    require_equal("classes", widths.back(), dataset.classes());
    match_loss(plan.problem.model.loss, dataset);
    data::check_training_set(dataset);
    require_same("labels", plan.fingerprints.labels, dataset.label_fingerprint(), dataset);
    require_same("training, validation and test vertices", plan.fingerprints.split, data::fingerprint(dataset.subset()),
                 dataset);
    return nonzeros();
}

void leave_out_idle_dropout(Plan& plan, double features_dropout) {
    if (features_dropout > 0) return;
    for (Candidate& candidate : plan.candidates) leave_out_feature_dropout(candidate.schedule, candidate.predicted);
}

void take_row_starts(Plan& plan, const TensorMemory& memory) {
    plan.machine.blocking.row_start_bytes = memory.row_start_bytes;
    for (Candidate& candidate : plan.candidates) candidate.schedule.blocking.row_start_bytes = memory.row_start_bytes;
}

namespace {

// Whether the rows that a schedule computes are those of this graph and split, not of an estimate. `counts`: |N_0| ..
// |N_L|.
bool prunes_these_rows(const Schedule& schedule, const std::vector<std::int64_t>& counts, std::int64_t all) {
    return std::all_of(schedule.spaces.begin(), schedule.spaces.end(), [&](const Space& space) {
        return space.rows == (space.needed_of == 0 ? all : counts[static_cast<std::size_t>(space.needed_of)]);
    });
}

}  // namespace

std::vector<int> usable_candidates(const Plan& plan, double features_dropout, const data::Dataset* dataset) {
    std::vector<int> usable;
    bool constant = false;
    std::map<int, std::vector<std::int64_t>> loss_rows;  // by number of layers
    const auto prunes_right = [&](const Schedule& schedule) {
        const int layers = schedule.numbering.loss_layers;
        if (dataset == nullptr) return true;
        if (dataset->in_shares()) return schedule.loading == Loading::sharded;
        if (layers == 0) return true;
        auto& counts = loss_rows[layers];
        if (counts.empty()) counts = data::loss_row_counts(dataset->graph(), dataset->subset(), layers);
        return prunes_these_rows(schedule, counts, dataset->vertices());
    };
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        const bool needs_constant_input = plan.candidates[i].configuration.constant_input;
        constant = constant || needs_constant_input;
        const bool allowed = !needs_constant_input || features_dropout == 0;
        if (allowed && prunes_right(plan.candidates[i].schedule)) usable.push_back(static_cast<int>(i));
    }
    if (!usable.empty()) return usable;
    if (dataset != nullptr && dataset->in_shares())
        throw Error(ErrorCode::mismatch, "no candidate that the options allow can load the graph in shares", "plan",
                    "use `load whole`");
    if (constant && features_dropout > 0) {
        throw Error(
            ErrorCode::mismatch, "no candidate of the plan allows dropout on the features", "plan",
            "use `input-dropout 0`, or plan again: without `constant-input`, and with memory for the dropped features");
    }
    throw Error(ErrorCode::mismatch,
                "every candidate of the plan computes only the rows that the loss was estimated to need, and on this "
                "graph the loss needs others",
                "plan", plan_again);
}

}  // namespace gnnplan::deploy
