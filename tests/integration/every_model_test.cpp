// Every model but GCN in the full space: every scheme on every grid of 1 to 12 ranks with combinations of layer
// choices, the dominated ones included, in turns with graphs and switches. Values equal the serial reference, bytes and
// memory equal the prediction.
#include "tests/integration/full_space_runs.hpp"
#include "tests/support/sampled.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

struct Variant {
    const char* name;
    ModelRecord model;
    bool weighted = false;  // its graphs
    std::optional<Normalisation> normalisation = {};
};

Variant variant(const char* name, const char* model, const char* aggregator = "",
                const std::function<void(ModelRecord&)>& change = {}) {
    Variant made{name, {}};
    made.model.name = model;
    made.model.aggregator = aggregator;
    if (change) change(made.model);
    return made;
}

// On graphs with weights of edges.
Variant weighted(Variant made) {
    made.weighted = true;
    return made;
}

Variant normalised(Variant made, Normalisation normalisation) {
    made.normalisation = normalisation;
    return made;
}

std::vector<Variant> variants() {
    const auto twice_less = [](ModelRecord& m) { m.epsilon = -3; };
    return {
        weighted(variant("GcnWeighted", "gcn")),
        weighted(variant("SageMeanWeighted", "sage", "mean")),
        weighted(variant("GinEpsilonTrainedWeighted", "gin", "", [](ModelRecord& m) { m.trains_epsilon = true; })),
        variant("SageMean", "sage", "mean"),
        variant("SageSum", "sage", "sum"),
        variant("SageMax", "sage", "max"),
        variant("SagePool", "sage", "pool"),
        variant("Gin", "gin"),
        normalised(variant("GinRowMean", "gin"), Normalisation::row_mean),
        normalised(weighted(variant("GinSymmetricWeighted", "gin")), Normalisation::symmetric),
        variant("GinEpsilonNegative", "gin", "", twice_less),
        variant("GinEpsilonTrained", "gin", "", [](ModelRecord& m) { m.epsilon = 0.25, m.trains_epsilon = true; }),
        variant("GcnResidualLeakyRelu", "gcn", "",
                [](ModelRecord& m) { m.residual = Residual::input, m.activation = Activation::leaky_relu; }),
        variant("GatOneHead", "gat"),
        variant("GatThreeHeads", "gat", "", [](ModelRecord& m) { m.heads = 3, m.output_heads = 2; }),
        variant("GatFourHeadsAveraged", "gat", "",
                [](ModelRecord& m) { m.heads = 4, m.average_heads = true, m.slope = 0.5; }),
        variant("GatTwoHeadsAveragedResidual", "gat", "",
                [](ModelRecord& m) { m.heads = 2, m.average_heads = true, m.residual = Residual::input; }),
        variant("GatEightHeadsResidual", "gat", "",
                [](ModelRecord& m) { m.heads = 8, m.residual = Residual::input, m.slope = 0.25; }),
        variant("GatTwoHeadsJk", "gat", "", [](ModelRecord& m) { m.heads = 2, m.jk = JumpingKnowledge::concat; }),
        variant("Agnn", "agnn"),
        variant("AgnnElu", "agnn", "", [](ModelRecord& m) { m.activation = Activation::elu; }),
        variant("SageMeanResidual", "sage", "mean", [](ModelRecord& m) { m.residual = Residual::input; }),
        variant("SageGcnJk", "sage", "gcn", [](ModelRecord& m) { m.jk = JumpingKnowledge::concat; }),
        variant("GcnJkElu", "gcn", "",
                [](ModelRecord& m) { m.jk = JumpingKnowledge::concat, m.activation = Activation::elu; }),
        variant("GcnJkLast", "gcn", "", [](ModelRecord& m) { m.jk = JumpingKnowledge::last; }),
        variant("SageMeanJkLastResidual", "sage", "mean",
                [](ModelRecord& m) { m.jk = JumpingKnowledge::last, m.residual = Residual::input; }),
        variant("GatTwoHeadsJkLast", "gat", "", [](ModelRecord& m) { m.heads = 2, m.jk = JumpingKnowledge::last; }),
        variant("GcnResidualLinear", "gcn", "", [](ModelRecord& m) { m.residual = Residual::linear; }),
        variant("GcnPre", "gcn", "", [](ModelRecord& m) { m.pre = {6}; }),
        variant("GcnPreResidual", "gcn", "",
                [](ModelRecord& m) {
                    m.pre = {6, 6}, m.residual = Residual::input;
                }),
        variant("GcnSumsElu", "gcn", "",
                [](ModelRecord& m) { m.residual = Residual::sums, m.activation = Activation::elu; }),
        variant(
            "GcnSumsLayerNorm", "gcn", "",
            [](ModelRecord& m) { m.residual = Residual::sums, m.norm = Norm::layer, m.activation = Activation::elu; }),
        variant("SagePoolSumsPost", "sage", "pool", [](ModelRecord& m) { m.residual = Residual::sums, m.post = {5}; }),
        variant("GatTwoHeadsSumsJk", "gat", "",
                [](ModelRecord& m) { m.heads = 2, m.residual = Residual::sums, m.jk = JumpingKnowledge::concat; }),
        variant("GcnSumsBatchNormPreJkLast", "gcn", "",
                [](ModelRecord& m) {
                    m.residual = Residual::sums, m.norm = Norm::batch, m.activation = Activation::elu;
                    m.pre = {6}, m.jk = JumpingKnowledge::last;
                }),
        variant("SageMeanSumsLayerNormJkLast", "sage", "mean",
                [](ModelRecord& m) {
                    m.residual = Residual::sums, m.norm = Norm::layer, m.activation = Activation::elu;
                    m.jk = JumpingKnowledge::last;
                }),
        variant("GinSumsLayerNormBehindActivation", "gin", "",
                [](ModelRecord& m) {
                    m.residual = Residual::sums, m.norm = Norm::layer, m.norm_after = NormAfter::activation;
                    m.activation = Activation::elu, m.post = {4};
                }),
        variant("GcnLayerNorm", "gcn", "",
                [](ModelRecord& m) { m.norm = Norm::layer, m.activation = Activation::elu; }),
        variant("GcnLayerNormReluJkLast", "gcn", "",
                [](ModelRecord& m) { m.norm = Norm::layer, m.jk = JumpingKnowledge::last; }),
        variant("SageMeanLayerNormBehindActivation", "sage", "mean",
                [](ModelRecord& m) {
                    m.norm = Norm::layer, m.norm_after = NormAfter::activation, m.activation = Activation::elu;
                    m.pre = {4}, m.post = {6};
                }),
        variant("GinLayerNormBehindDropout", "gin", "",
                [](ModelRecord& m) {
                    m.norm = Norm::layer, m.norm_after = NormAfter::dropout, m.activation = Activation::elu;
                    m.residual = Residual::input;
                }),
        variant("GatTwoHeadsLayerNorm", "gat", "",
                [](ModelRecord& m) { m.heads = 2, m.norm = Norm::layer, m.residual = Residual::linear; }),
        variant("SagePoolLayerNorm", "sage", "pool",
                [](ModelRecord& m) { m.norm = Norm::layer, m.activation = Activation::elu; }),
        variant("Sgc", "sgc"),
        variant("SgcThreeHopsResidual", "sgc", "",
                [](ModelRecord& m) { m.hops = 3, m.residual = Residual::input, m.activation = Activation::elu; }),
        variant("Sign", "sign", "", [](ModelRecord& m) { m.post = {5}; }),
        variant("SignElu", "sign", "",
                [](ModelRecord& m) {
                    m.post = {4, 6}, m.activation = Activation::elu;
                }),
        weighted(variant("SignOfOneMap", "sign")),
        weighted(variant("Appnp", "appnp", "", [](ModelRecord& m) { m.hops = 3, m.teleport = 0.25; })),
        variant("AppnpWithBias", "appnp", "", [](ModelRecord& m) { m.hops = 3, m.bias = true; }),
        normalised(variant("AppnpPreRowMean", "appnp", "",
                           [](ModelRecord& m) {
                               m.hops = 4, m.pre = {4}, m.pre_activation = true;
                               m.activation = Activation::elu, m.bias = true;
                           }),
                   Normalisation::row_mean),
        variant("AppnpOneHopLayerNormJkLast", "appnp", "",
                [](ModelRecord& m) {
                    m.hops = 1, m.teleport = 0.5, m.norm = Norm::layer, m.jk = JumpingKnowledge::last;
                    m.activation = Activation::elu, m.residual = Residual::linear;
                    m.bias = true;
                }),
        variant("AppnpTeleportsAlways", "appnp", "", [](ModelRecord& m) { m.hops = 2, m.teleport = 1; }),
        variant("AppnpBatchNormPost", "appnp", "",
                [](ModelRecord& m) {
                    m.hops = 2, m.norm = Norm::batch, m.post = {4}, m.activation = Activation::elu;
                    m.bias = true;
                }),
        variant("Gcnii", "gcnii", "", [](ModelRecord& m) { m.theta = 0.7; }),
        weighted(variant("GcniiElu", "gcnii", "", [](ModelRecord& m) { m.activation = Activation::elu; })),
        variant("GcniiPost", "gcnii", "",
                [](ModelRecord& m) {
                    m.teleport = 0.4, m.theta = 1.5;
                    m.post = {4}, m.activation = Activation::elu;
                }),
        normalised(variant("GcniiLayerNormRowMean", "gcnii", "",
                           [](ModelRecord& m) {
                               m.theta = 2.5, m.norm = Norm::layer, m.norm_after = NormAfter::activation;
                               m.activation = Activation::elu;
                           }),
                   Normalisation::row_mean),
        variant("GcniiBatchNorm", "gcnii", "",
                [](ModelRecord& m) { m.norm = Norm::batch, m.activation = Activation::elu; }),
        variant("GcniiResidual", "gcnii", "",
                [](ModelRecord& m) { m.residual = Residual::input, m.activation = Activation::elu; }),
        variant("GcniiWithoutInitial", "gcnii", "", [](ModelRecord& m) { m.teleport = 0, m.theta = 1; }),
        variant("GcnBatchNorm", "gcn", "", [](ModelRecord& m) { m.norm = Norm::batch; }),
        variant("GcnBatchNormElu", "gcn", "",
                [](ModelRecord& m) {
                    m.norm = Norm::batch, m.activation = Activation::elu, m.residual = Residual::linear;
                }),
        variant("SageMeanBatchNormBehindActivation", "sage", "mean",
                [](ModelRecord& m) {
                    m.norm = Norm::batch, m.norm_after = NormAfter::activation, m.activation = Activation::elu;
                    m.pre = {4}, m.post = {6};
                }),
        variant("GinBatchNormBehindDropout", "gin", "",
                [](ModelRecord& m) {
                    m.norm = Norm::batch, m.norm_after = NormAfter::dropout, m.activation = Activation::elu;
                    m.jk = JumpingKnowledge::concat;
                }),
        variant("GatTwoHeadsBatchNorm", "gat", "", [](ModelRecord& m) { m.heads = 2, m.norm = Norm::batch; }),
        variant("GcnSigmoid", "gcn", "", [](ModelRecord& m) { m.loss = Loss::sigmoid, m.rocauc = true; }),
        variant("GcnTwoClassesRanked", "gcn", "", [](ModelRecord& m) { m.rocauc = true; }),
        variant("SageMeanMaskedSigmoidJk", "sage", "mean",
                [](ModelRecord& m) {
                    m.loss = Loss::masked_sigmoid, m.rocauc = true, m.jk = JumpingKnowledge::concat;
                    m.activation = Activation::elu;
                }),
        variant("GatTwoHeadsMaskedSigmoid", "gat", "",
                [](ModelRecord& m) { m.heads = 2, m.loss = Loss::masked_sigmoid; }),
        variant("GcnPost", "gcn", "", [](ModelRecord& m) { m.post = {7}; }),
        variant("SageMeanPrePostResidual", "sage", "mean",
                [](ModelRecord& m) {
                    m.pre = {5, 3}, m.post = {7, 4}, m.pre_activation = true, m.activation = Activation::elu;
                    m.residual = Residual::input;
                }),
        variant("SagePoolPreResidualLinear", "sage", "pool",
                [](ModelRecord& m) { m.pre = {4}, m.residual = Residual::linear; }),
        variant("GinPreJk", "gin", "",
                [](ModelRecord& m) {
                    m.pre = {4}, m.jk = JumpingKnowledge::concat, m.activation = Activation::elu;
                    m.trains_epsilon = true;
                }),
        variant("GatTwoHeadsPrePost", "gat", "",
                [](ModelRecord& m) { m.heads = 2, m.pre = {6}, m.post = {5}, m.pre_activation = true; }),
        variant("SagePoolJkResidualElu", "sage", "pool", [](ModelRecord& m) {
            m.jk = JumpingKnowledge::concat, m.residual = Residual::input;
            m.activation = Activation::elu;
        })};
}

// The tiny graphs under one model. Inner widths differ from each other and from those at both ends; every other network
// has dropout, on the features too for some, and some have three layers.
std::vector<std::pair<TinyGraph, Network>> networks_of(const Variant& variant) {
    std::vector<std::pair<TinyGraph, Network>> all;
    const std::vector<TinyGraph> graphs = variant.weighted ? weighted_tiny_graphs() : tiny_graphs();
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        // Where every vertex attends to itself alone, the gradients of scores are what rounding leaves of 0, and Adam
        // makes whole steps of that.
        const bool weighs = variant.model.name == "gat" || variant.model.name == "agnn";
        // Rows that dropout leaves nothing of have biases alone, whose norm divides rounding by next to nothing.
        const bool norms = variant.model.norm != Norm::none;
        if ((weighs || norms) && graphs[i].name == "no_edges") continue;
        const models::MatrixForm matrix = models::matrix_of(variant.model, variant.normalisation);
        // A norm makes signs of two columns, whose gradients are what rounding leaves of 0.
        const std::int64_t narrow = norms ? 4 : 2;
        Network network{{i % 3 == 2 ? narrow : 6}, i % 2 == 0, 0, 0, matrix, variant.model};
        // A bias before the sums decides whether these have a linear map.
        if (variant.model.name == "appnp") network.bias = variant.model.bias;
        // Sums of layers are added as they are where their widths are equal.
        const bool equal = variant.model.name == "agnn" || (variant.model.residual == Residual::sums && i % 8 == 1);
        if (i % 4 == 1) network.hidden.push_back(equal ? network.hidden.front() : 5);
        if (variant.model.heads > 1 && !variant.model.average_heads) {
            // One column a head, or two, or three.
            const std::int64_t heads = variant.model.heads;
            network.hidden.front() = (i % 3 == 2 ? 1 : 2) * heads;
            if (network.hidden.size() > 1) network.hidden.back() = 3 * heads;
        }
        // Every hop of sign has the features' columns.
        if (variant.model.name == "sign") network.hidden.assign(network.hidden.size(), graphs[i].features);
        // Every layer of gcnii has as many columns as the map before them.
        if (variant.model.name == "gcnii") {
            network.hidden.assign(network.hidden.size(), network.hidden.front());
            network.model.pre = {network.hidden.front()}, network.model.pre_activation = true;
            if (variant.model.post.empty()) network.model.jk = JumpingKnowledge::last;
        }
        if (i % 2 == 1) network.dropout = 0.5F;
        if (i % 4 == 3) network.input_dropout = 0.25F;
        if (i % 4 > 1) network.attention_dropout = 0.4F;
        TinyGraph graph = graphs[i];
        if (variant.model.rocauc && !several_labels(variant.model.loss)) {
            graph.classes = 2;
            for (std::int32_t& label : graph.labels) label = std::min(label, 1);
        }
        if (several_labels(variant.model.loss)) {
            graph = with_several_labels(std::move(graph), variant.model.loss == Loss::masked_sigmoid);
            if (graph.several.empty()) network.model.loss = Loss::softmax, network.model.rocauc = false;
        }
        all.emplace_back(std::move(graph), network);
    }
    return all;
}

ExpectedProblems problems_of(const Variant& variant) {
    ExpectedProblems all;
    for (const auto& [graph, network] : networks_of(variant)) all.add(graph, network);
    return all;
}

bool propagates(const Variant& variant) { return models::with_defaults(variant.model).hops > 0; }

// The same for inference: two in three, unless layers propagate, draw neighbours, fewer or more of them from layer to
// layer.
std::deque<TestProblem> inferences_of(const Variant& variant) {
    std::deque<TestProblem> all;
    for (auto [graph, network] : networks_of(variant)) {
        if (all.size() % 3 != 0 && !propagates(variant)) network.fanout = {all.size() % 3 == 1 ? 1 : 3, 2};
        if (network.hidden.size() > 1 && !network.fanout.empty()) network.fanout.push_back(4);
        all.emplace_back(graph, network);
    }
    return all;
}

class EveryModel : public ::testing::TestWithParam<std::tuple<std::size_t, int>> {
protected:
    static const ExpectedProblems& problems() {
        static const std::deque<ExpectedProblems> of_variants = [] {
            std::deque<ExpectedProblems> all;
            for (const Variant& variant : variants()) all.push_back(problems_of(variant));
            return all;
        }();
        return of_variants[std::get<0>(GetParam())];
    }
    // The index-th problem with so many layers, or the next one that fits as well.
    static std::size_t pick(std::size_t index, std::size_t layers, const search::Choices& choices) {
        return problems().pick(index, [&](const TestProblem& problem) {
            return problem.widths().size() == layers + 1 && fits_input(problem, choices);
        });
    }
};

TEST_P(EveryModel, EqualsReferenceAndPrediction) {
    const int ranks = std::get<1>(GetParam());
    std::size_t index = 0;
    int run = 0;
    for (const std::size_t layers : {2U, 3U}) {
        const TestProblem& first = problems().problem(pick(0, layers, {{}}));
        const exec::GraphCounts counts(first.dataset().graph());
        const search::Space space = space_of(first, counts, ranks);
        for (const Distribution& on : space.grids) {
            // Maxima leave few orders, sums many.
            const std::vector<search::Choices> sequences = search::all_choices(space, on, false);
            const std::size_t wanted = (ranks > 4 ? 24 : 48) / (layers == 3 ? 2 : 1) / space.grids.size() + 1;
            const std::size_t every = std::max<std::size_t>(1, sequences.size() / wanted) | 1U;
            for (const search::Choices& choices : sequences) {
                if (++index % every != 0 || !sampled(run++)) continue;
                const std::size_t which = pick(index / every, layers, choices);
                check_configuration(problems().problem(which), problems().expected(which), on,
                                    switches_in_turn(index / every), choices, scores_in_turn(run));
                if (HasFailure()) return;  // the first failure says enough
            }
        }
    }
    EXPECT_GE(run, 4);
}

// Inference of all vertices, of all their neighbours or of some: no backward pass, no loss, no second epoch.
TEST_P(EveryModel, InfersAsTheReferenceEvaluates) {
    const int ranks = std::get<1>(GetParam());
    const std::deque<TestProblem> inferences = inferences_of(variants()[std::get<0>(GetParam())]);
    const auto pick = [&](std::size_t i, std::size_t layers) -> const TestProblem& {
        while (inferences[i % inferences.size()].widths().size() != layers + 1) ++i;
        return inferences[i % inferences.size()];
    };
    std::size_t index = 0;
    int run = 0, checked = 0;
    for (const std::size_t layers : {2U, 3U}) {
        const TestProblem& first = pick(0, layers);
        const exec::GraphCounts counts(first.dataset().graph());
        const search::Space space = space_of(first, counts, ranks, Task::infer);
        for (const Distribution& on : space.grids) {
            for (const search::Choices& choices : search::all_choices(space, on, false)) {
                if (ranks > 1 && ++index % 3 != 0) continue;
                if (!sampled(run++) && checked > 0) continue;
                ++checked;
                Switches switches = switches_in_turn(static_cast<std::size_t>(run));
                switches.loss_rows = false;
                switches.recompute = 0;
                check_inference(pick(static_cast<std::size_t>(run), layers), on, switches, choices,
                                scores_in_turn(run));
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_GE(checked, 1);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         ::testing::Combine(::testing::Range<std::size_t>(0, variants().size()),
                                            ::testing::Values(1, 2, 3, 4, 6, 8, 9, 12)),
                         [](const auto& instance) {
                             return fmt::format("{}P{}", variants()[std::get<0>(instance.param)].name,
                                                std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace gnnplan::testing
