#include <gnnplan/base/error.hpp>
#include <gnnplan/models.hpp>

#include "models/settings.hpp"

#include <algorithm>
#include <cmath>

namespace gnnplan::models {
namespace {

std::string list(const auto& named) {
    std::string names;
    for (const auto& each : named) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

}  // namespace

const std::vector<Model>& registry() {
    static const std::vector<Model> models = {
        {"gcn", "graph convolutional network (Kipf & Welling 2017)", {{"", {}, gcn}}},
        {"sage",
         "GraphSAGE (Hamilton et al. 2017)",
         {{"mean", {false, Normalisation::row_mean}, sage},
          {"sum", {false, Normalisation::none}, sage},
          {"max", {false, Normalisation::none}, sage_max},
          {"pool", {false, Normalisation::none}, sage_pool},
          {"gcn", {true, Normalisation::row_mean}, sage_gcn}}},
        {"gin", "graph isomorphism network (Xu et al. 2019)", {{"", {true, Normalisation::none}, gin}}},
        {"gat", "graph attention network (Velickovic et al. 2018)", {{"", {true, Normalisation::none}, gat}}},
        {"agnn",
         "attention-based graph neural network (Thekumparampil et al. 2018)",
         {{"", {true, Normalisation::none}, agnn}}},
        {"sgc", "simplified graph convolution (Wu et al. 2019)", {{"", {}, sgc}}, 1},
        {"appnp",
         "personalised propagation of neural predictions (Gasteiger et al. 2019)",
         {{"", {}, appnp}},
         2,
         Model::Maps::before},
        {"sign",
         "scalable inception graph neural network (Frasca et al. 2020)",
         {{"", {}, sign}},
         2,
         Model::Maps::behind},
        {"gcnii",
         "graph convolutional network with initial residual and identity mapping (Chen et al. 2020)",
         {{"", {}, gcnii}},
         2,
         Model::Maps::around},
    };
    return models;
}

const Aggregator& find(std::string_view name, std::string_view aggregator) {
    const Model* const model = known_model(name);
    if (model == nullptr)
        throw Error(ErrorCode::usage, "unknown model '" + std::string(name) + "'", "`model`",
                    "known models: " + list(registry()));
    const std::vector<Aggregator>& ways = model->aggregators;
    if (aggregator.empty()) return ways.front();
    const auto found = std::ranges::find(ways, aggregator, &Aggregator::name);
    if (found != ways.end()) return *found;
    if (ways.size() == 1) {
        throw Error(ErrorCode::usage, "the model '" + std::string(name) + "' has one way to aggregate", "`aggregator`",
                    "leave it out; sage has several");
    }
    throw Error(ErrorCode::usage, "unknown aggregator '" + std::string(aggregator) + "' of " + std::string(name),
                "`aggregator`", "known aggregators: " + list(ways));
}

MatrixForm matrix_of(const ModelRecord& model, std::optional<Normalisation> asked) {
    MatrixForm form = find(model.name, model.aggregator).matrix;
    form.normalisation = asked.value_or(form.normalisation);
    // (1 + epsilon) h_v is an entry of the matrix where 1 + epsilon is 1 and no entry is divided by degrees.
    const bool adds_once = model.epsilon == 0 && !model.trains_epsilon && form.normalisation == Normalisation::none;
    if (model.name == "gin" && !adds_once) form.self_loops = false;
    return form;
}

namespace {

void check_heads(const ModelRecord& model) {
    const char* given = model.heads != 0          ? "`heads`"
                        : model.output_heads != 0 ? "`output-heads`"
                        : model.average_heads     ? "`average-heads`"
                        : model.slope             ? "`slope`"
                                                  : nullptr;
    if (given != nullptr && !attends(model))
        throw Error(ErrorCode::usage, "the model '" + model.name + "' has no heads of attention and no slope", given,
                    "only gat has them");
    constexpr int most = 1024;
    for (const int heads : {model.heads, model.output_heads}) {
        if (heads < 0 || heads > most)
            throw Error(ErrorCode::usage, "there are 1.." + std::to_string(most) + " heads", "`heads`");
    }
    if (model.slope && !(*model.slope >= 0 && *model.slope <= 1))
        throw Error(ErrorCode::usage, "must be 0 to 1", "`slope`",
                    "0.2 is usual: negative scores are multiplied by it");
}

void check_propagation(const ModelRecord& model) {
    if (model.hops != 0 && !propagates(model))
        throw Error(ErrorCode::usage, "a layer of '" + model.name + "' aggregates once", "`hops`",
                    "sgc, appnp and sign aggregate several times");
    if (model.hops < 0 || model.hops > max_hops)
        throw Error(ErrorCode::usage, "must be 1 to " + std::to_string(max_hops), "`hops`");
    if (model.teleport && !teleports(model))
        throw Error(ErrorCode::usage, "the model '" + model.name + "' does not teleport", "`teleport`",
                    "only appnp and gcnii do");
    if (model.teleport && !(*model.teleport >= 0 && *model.teleport <= 1))
        throw Error(ErrorCode::usage, "must be 0 to 1", "`teleport`", "0.1 is usual");
    if (model.theta && !has_theta(model))
        throw Error(ErrorCode::usage, "the model '" + model.name + "' has no identity in its weights", "`theta`",
                    "only gcnii has");
    if (model.theta && !(*model.theta > 0 && std::isfinite(*model.theta)))
        throw Error(ErrorCode::usage, "must be a positive number", "`theta`", "0.5 is usual");
}

}  // namespace

void check_has_epsilon(const ModelRecord& model) {
    if (has_epsilon(model)) return;
    throw Error(ErrorCode::usage, "the model '" + model.name + "' has no epsilon", "`epsilon`",
                "only gin has one: it adds 1 + epsilon times the vertex's own features");
}

namespace {

// The diagonal of the matrix adds the vertex itself once, so that no operation has to add it.
void leave_to_diagonal(OpGraph& graph) {
    for (Op& op : graph.ops) {
        if (op.self == 1 && op.parameter < 0) op.self = 0;
    }
}

void check_widths(const std::vector<std::int64_t>& widths, const char* option) {
    for (const std::int64_t width : widths) {
        if (width < 1) throw Error(ErrorCode::usage, "width " + std::to_string(width) + " is not positive", option);
    }
}

void check_maps(const ModelRecord& model) {
    check_widths(model.pre, "`pre`");
    check_widths(model.post, "`post`");
    if (model.rocauc && !several_labels(model.loss) && model.widths.back() != 2)
        throw Error(ErrorCode::usage,
                    "the area under the ROC curve is of several labels for a vertex, or of two classes", "`rocauc`",
                    "leave it out");
    if (model.norm_after != NormAfter::sum && model.norm == Norm::none)
        throw Error(ErrorCode::usage, "there is no norm to put behind something", "`norm-after`", "`norm` gives one");
    if (model.pre_activation && model.pre.empty())
        throw Error(ErrorCode::usage, "there is no linear map before layer 1", "`pre-activation`", "`pre` gives one");
    if (!model.post.empty() && model.jk != JumpingKnowledge::none)
        throw Error(ErrorCode::usage, "the logits are made by linear maps behind the last layer, or by `jk`", "`post`",
                    "leave one of the two out");
}

}  // namespace

OpGraph build(const ProblemRecord& problem) {
    const ModelRecord& model = problem.model;
    const Aggregator& aggregator = find(model.name, model.aggregator);
    if (model.widths.size() < 2) {
        throw Error(ErrorCode::usage, "a model needs at least an input and an output width", "`widths`",
                    "give f_0,f_1,...,f_L");
    }
    check_widths(model.widths, "`widths`");
    check_maps(model);
    if (model.epsilon != 0 || model.trains_epsilon) check_has_epsilon(model);
    check_heads(model);
    check_propagation(model);
    if (!std::isfinite(model.epsilon)) throw Error(ErrorCode::usage, "must be a finite number", "`epsilon`");
    OpGraph graph = aggregator.build(model);
    if (problem.graph.self_loops) leave_to_diagonal(graph);
    return problem.task == Task::infer ? applied(std::move(graph)) : graph;
}

OpGraph build(const ModelRecord& model, Task task) {
    ProblemRecord problem;
    problem.task = task;
    problem.model = model;
    problem.graph.self_loops = matrix_of(model).self_loops;
    return build(problem);
}

namespace {

ModelRecord record_of(const char* name, const std::vector<std::int64_t>& widths, bool bias) {
    ModelRecord model;
    model.name = name;
    model.widths = widths;
    model.bias = bias;
    return model;
}

}  // namespace

OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias) { return gcn(record_of("gcn", widths, bias)); }
OpGraph sage(const std::vector<std::int64_t>& widths, bool bias) { return sage(record_of("sage", widths, bias)); }
OpGraph gin(const std::vector<std::int64_t>& widths, bool bias) { return build(record_of("gin", widths, bias)); }

}  // namespace gnnplan::models
