#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>
#include <gnnplan/models.hpp>

#include <cmath>

namespace gnnplan {
namespace {

std::vector<SiteKind> kinds_of(const SiteGraph& graph) {
    std::vector<SiteKind> kinds;
    for (const Site& site : graph.sites) kinds.push_back(site.kind);
    return kinds;
}

TEST(Sites, OfAGcn) {
    const SiteGraph graph = sites_of(models::gcn({602, 128, 41}, true));
    const std::vector<SiteKind> kinds = {SiteKind::input,   SiteKind::product,   SiteKind::pointwise,
                                         SiteKind::product, SiteKind::pointwise, SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.depth, 2);
    EXPECT_EQ(widths_of(graph), (std::vector<std::int64_t>{602, 128, 41}));
    EXPECT_EQ(graph.sites[0].dropout, 1) << "on the features";
    EXPECT_EQ(graph.parameter(graph.product(2).parameter).name, "layers.2.weight");
    const Site& hidden = graph.sites[2];
    EXPECT_TRUE(hidden.activation == Activation::relu && hidden.dropout == 2 && hidden.layer == 1);
    EXPECT_EQ(graph.parameter(hidden.parameter).symbol, "b1");
    const Site& logits = graph.sites[4];
    EXPECT_TRUE(logits.activation == Activation::none && logits.dropout == 0 && logits.parameter >= 0);
}

TEST(Sites, ALastLayerWithoutBiasEndsWithItsProduct) {
    const SiteGraph graph = sites_of(models::gcn({602, 41}, false));
    EXPECT_EQ(kinds_of(graph), (std::vector{SiteKind::input, SiteKind::product, SiteKind::loss}));
}

// The self term is added on top of the product, and both read the value of the layer before.
TEST(Sites, OfASage) {
    const SiteGraph graph = sites_of(models::sage({602, 128, 41}, true));
    const std::vector<SiteKind> kinds = {SiteKind::input,   SiteKind::product, SiteKind::linear,    SiteKind::pointwise,
                                         SiteKind::product, SiteKind::linear,  SiteKind::pointwise, SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.readers(0), (std::vector{1, 2}));
    EXPECT_EQ(graph.readers(3), (std::vector{4, 5}));
    EXPECT_EQ(graph.readers(1), std::vector{2});
    EXPECT_EQ(graph.at(2).addend, 1);
    EXPECT_EQ(graph.at(5).addend, 4);
    EXPECT_EQ(graph.result(1), 3);
    EXPECT_EQ(graph.result(2), 6);
    EXPECT_EQ(graph.parameter(graph.at(5).parameter).name, "layers.2.self.weight");
}

TEST(Sites, OfAGin) {
    const SiteGraph graph = sites_of(models::gin({602, 128, 41}, false));
    const std::vector<SiteKind> kinds = {SiteKind::input,     SiteKind::product,   SiteKind::pointwise,
                                         SiteKind::linear,    SiteKind::pointwise, SiteKind::product,
                                         SiteKind::pointwise, SiteKind::linear,    SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.at(3).addend, -1);
    EXPECT_EQ(graph.result(1), 4);
    EXPECT_EQ(graph.result(2), 7);
    EXPECT_EQ(graph.parameter(graph.at(3).parameter).name, "layers.1.mlp.1.weight");
}

// Either operation may come first in a model: the plan orders them anyway.
TEST(Sites, AProductIsWrittenInEitherOrder) {
    OpGraph swapped = models::gcn({602, 41}, false);
    std::swap(swapped.ops[2].kind, swapped.ops[3].kind);
    std::swap(swapped.ops[2].parameter, swapped.ops[3].parameter);
    const SiteGraph graph = sites_of(swapped);
    EXPECT_EQ(graph.parameter(graph.product(1).parameter).symbol, "W1");
    EXPECT_EQ(widths_of(graph), (std::vector<std::int64_t>{602, 41}));
}

TEST(Sites, RefuseWhatNoSiteHasAPlaceFor) {
    const OpGraph gcn = models::gcn({8, 4, 2}, true);
    const auto refused = [&](const char* what, const auto& change) {
        OpGraph changed = gcn;
        change(changed);
        EXPECT_THROW(sites_of(changed), Error) << what;
    };
    refused("a skip", [](OpGraph& g) { g.ops[3].inputs = {0}; });
    refused("no loss", [](OpGraph& g) { g.ops.pop_back(); });
    refused("nothing", [](OpGraph& g) { g.ops.clear(); });
    refused("two aggregations", [](OpGraph& g) { g.ops[3].kind = OpKind::aggregate; });
    refused("half a product", [](OpGraph& g) { g.ops[3].kind = OpKind::dropout; });
    refused("a bias after its activation", [](OpGraph& g) { std::swap(g.ops[4].kind, g.ops[5].kind); });
    refused("a bias on the features", [](OpGraph& g) { g.ops[1].kind = OpKind::bias; });
    refused("two losses", [](OpGraph& g) {
        Op loss = g.ops.back();
        loss.inputs = {static_cast<int>(g.ops.size()) - 1};
        g.ops.push_back(loss);
    });
    refused("a value that nothing reads", [](OpGraph& g) { g.ops[6].inputs = {0}; });
    const OpGraph sage = models::sage({8, 4, 2}, false);
    OpGraph twice = sage;
    twice.ops[5].inputs = {3, 3};
    EXPECT_THROW(sites_of(twice), Error) << "a sum of a product with itself";
    OpGraph skipped = sage;
    skipped.ops[5].inputs = {3, 1};
    EXPECT_THROW(sites_of(skipped), Error) << "a sum of a product with what it reads";
    refused("two products in a layer", [](OpGraph& g) {
        for (Op& op : g.ops) op.layer = op.layer == 2 ? 1 : op.layer;
    });
}

TEST(Window, IsAModelOfItsOwn) {
    const SiteGraph whole = sites_of(models::gcn({9, 8, 7, 6, 5}, true));
    const SiteGraph middle = window(whole, 2, 3);
    const std::vector<SiteKind> kinds = {SiteKind::input,   SiteKind::product,   SiteKind::pointwise,
                                         SiteKind::product, SiteKind::pointwise, SiteKind::loss};
    ASSERT_EQ(kinds_of(middle), kinds);
    EXPECT_EQ(widths_of(middle), (std::vector<std::int64_t>{8, 7, 6}));
    EXPECT_EQ(middle.sites[0].dropout, 1);
    EXPECT_EQ(middle.sites[2].dropout, 2);
    EXPECT_EQ(middle.sites[4].dropout, 0) << "no layer of the window reads it";
    EXPECT_EQ(middle.sites[4].activation, Activation::none);
    EXPECT_EQ(middle.product(2).layer, 2);
    EXPECT_EQ(middle.parameter(middle.product(1).parameter).symbol, "W2");
    for (std::size_t i = 1; i < middle.sites.size(); ++i) EXPECT_EQ(middle.sites[i].input, static_cast<int>(i) - 1);
    EXPECT_EQ(widths_of(window(whole, 1, 4)), widths_of(whole));
}

TEST(Window, KeepsBranches) {
    const SiteGraph sage = window(sites_of(models::sage({9, 8, 7, 6, 5}, true)), 2, 3);
    EXPECT_EQ(sage.depth, 2);
    EXPECT_EQ(sage.at(2).addend, 1);
    EXPECT_EQ(sage.at(5).input, 3);
    EXPECT_EQ(sage.at(3).activation, Activation::relu);
    EXPECT_EQ(sage.at(6).activation, Activation::none);
    const SiteGraph gin = window(sites_of(models::gin({9, 8, 7, 6, 5}, true)), 2, 3);
    for (const int inner : {2, 6}) EXPECT_EQ(gin.at(inner).activation, Activation::relu) << "inner activations stay";
    EXPECT_EQ(gin.at(8).activation, Activation::none);
    const SiteGraph wide = with_widths(gin, {80, 70, 60});
    EXPECT_EQ(wide.parameter(wide.at(3).parameter).shape, (std::vector<std::int64_t>{70, 70}));
}

TEST(Window, TakesOtherWidths) {
    const SiteGraph wide = with_widths(window(sites_of(models::gcn({9, 8, 7, 6, 5}, true)), 2, 3), {80, 70, 60});
    EXPECT_EQ(widths_of(wide), (std::vector<std::int64_t>{80, 70, 60}));
    EXPECT_EQ(wide.parameter(wide.product(2).parameter).shape, (std::vector<std::int64_t>{70, 60}));
    EXPECT_EQ(wide.parameter(wide.sites[2].parameter).shape, (std::vector<std::int64_t>{70}));
    EXPECT_EQ(wide.sites.back().width, 60);
}

ModelRecord record(const char* name, const std::vector<std::int64_t>& widths, const char* aggregator = "") {
    ModelRecord model;
    model.name = name;
    model.widths = widths;
    model.aggregator = aggregator;
    return model;
}

// The linear map of a pool has the rows and the width of what the layer reads, and nothing is ordered.
TEST(Sites, OfASagePool) {
    const SiteGraph graph = sites_of(models::build(record("sage", {602, 128, 41}, "pool")));
    const std::vector<SiteKind> layer = {SiteKind::linear, SiteKind::pointwise, SiteKind::product, SiteKind::linear,
                                         SiteKind::pointwise};
    std::vector<SiteKind> kinds{SiteKind::input};
    kinds.insert(kinds.end(), layer.begin(), layer.end());
    kinds.insert(kinds.end(), layer.begin(), layer.end() - 1);
    kinds.push_back(SiteKind::loss);
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_FALSE(graph.product(2).reorderable());
    EXPECT_EQ(graph.at(6).rows_of, 1);
    EXPECT_EQ(graph.at(6).columns_of, 1);
    EXPECT_EQ(graph.result(1), 5);
    EXPECT_EQ(graph.readers(5), (std::vector{6, 9}));
    const SiteGraph second = window(graph, 2, 2);
    EXPECT_EQ(second.at(1).rows_of, 0);
    EXPECT_EQ(with_widths(second, {70, 60}).at(1).width, 70);
}

ModelRecord attention(const std::vector<std::int64_t>& widths, int heads, int output_heads, bool average = false) {
    ModelRecord model = record("gat", widths);
    model.heads = heads, model.output_heads = output_heads, model.average_heads = average;
    return model;
}

// Heads side by side share the columns; heads that are averaged have as many columns each.
TEST(Sites, OfAGat) {
    const SiteGraph graph = sites_of(models::build(attention({16, 24, 7}, 8, 2)));
    ASSERT_EQ(kinds_of(graph), (std::vector{SiteKind::input, SiteKind::product, SiteKind::pointwise, SiteKind::product,
                                            SiteKind::loss}));
    EXPECT_EQ(graph.at(2).activation, Activation::elu);
    const Site& hidden = graph.product(1);
    const Site& last = graph.product(2);
    EXPECT_EQ(hidden.mapped_width(), 24);
    EXPECT_EQ(last.mapped_width(), 14);
    EXPECT_EQ(last.width, 7);
    EXPECT_EQ(graph.parameter(hidden.heads.source).shape, (std::vector<std::int64_t>{8, 3}));
    EXPECT_EQ(graph.parameter(last.heads.target).shape, (std::vector<std::int64_t>{2, 7}));
    EXPECT_EQ(graph.parameter(last.heads.target).name, "layers.2.attention.target");
    EXPECT_EQ(hidden.only_orders()->forward, Order::dense_first);
    EXPECT_EQ(hidden.only_orders()->backward, Order::sparse_first);
    const SiteGraph wide = with_widths(window(graph, 2, 2), {40, 9});
    EXPECT_EQ(wide.parameter(wide.product(1).heads.source).shape, (std::vector<std::int64_t>{2, 9}));
    EXPECT_EQ(wide.parameter(wide.product(1).parameter).shape, (std::vector<std::int64_t>{40, 18}));
}

// Products without a linear map follow each other; maps come before the first and behind the last.
TEST(Sites, OfAnAgnn) {
    const SiteGraph graph = sites_of(models::build(record("agnn", {16, 12, 12, 7})));
    ASSERT_EQ(kinds_of(graph),
              (std::vector{SiteKind::input, SiteKind::linear, SiteKind::pointwise, SiteKind::product, SiteKind::product,
                           SiteKind::product, SiteKind::pointwise, SiteKind::linear, SiteKind::loss}));
    EXPECT_EQ(widths_of(graph), (std::vector<std::int64_t>{12, 12, 12, 12}));
    EXPECT_FALSE(graph.product(1).maps());
    EXPECT_EQ(graph.parameter(graph.product(2).beta).name, "layers.2.beta");
    EXPECT_EQ(graph.parameter(graph.product(2).beta).init, Init::ones);
    EXPECT_EQ(graph.result(1), 3);
    EXPECT_EQ(graph.product(2).input, 3);
    EXPECT_EQ(graph.at(6).dropout, 4) << "draws of its own";
    const SiteGraph middle = window(graph, 2, 2);
    EXPECT_EQ(middle.parameter(middle.product(1).beta).name, "layers.2.beta");
    EXPECT_THROW(models::build(record("agnn", {16, 7})), Error);
    EXPECT_THROW(models::build(record("agnn", {16, 12, 10, 7})), Error);
}

// The linear map beside the last of several aggregations makes one product of them, unless something stands between.
TEST(Sites, OfModelsThatPropagate) {
    ModelRecord model = record("sgc", {16, 7});
    model.hops = 3;
    const SiteGraph sgc = sites_of(models::build(model));
    ASSERT_EQ(kinds_of(sgc), (std::vector{SiteKind::input, SiteKind::product, SiteKind::loss}));
    EXPECT_EQ(sgc.product(1).hops, 3);
    EXPECT_EQ(sgc.product(1).teleport, 0);
    EXPECT_TRUE(sgc.product(1).reorderable());
    EXPECT_TRUE(sgc.aggregates_features());
    model.name = "appnp";
    EXPECT_TRUE(sites_of(models::build(model)).product(1).reorderable()) << "no bias, so that the sums may come first";
    model.bias = true;
    model.pre = {12};
    const SiteGraph appnp = sites_of(models::build(model));
    ASSERT_EQ(kinds_of(appnp), (std::vector{SiteKind::input, SiteKind::linear, SiteKind::pointwise, SiteKind::linear,
                                            SiteKind::pointwise, SiteKind::product, SiteKind::loss}));
    const Site& product = appnp.product(1);
    EXPECT_EQ(product.teleport, 0.1);
    EXPECT_FALSE(product.maps());
    EXPECT_FALSE(appnp.needs_whole_neighbourhoods());
    ASSERT_TRUE(product.only_orders());
    EXPECT_EQ(product.only_orders()->forward, Order::sparse_first);
    EXPECT_EQ(widths_of(appnp), (std::vector<std::int64_t>{7, 7}));
}

// Every layer reads what stands before layer 1, before its dropout.
TEST(Sites, OfAGcnii) {
    const ModelRecord model = models::with_widths(record("gcnii", {}), {16, 12, 12, 7});
    EXPECT_EQ(model.pre, (std::vector<std::int64_t>{12}));
    EXPECT_EQ(model.jk, JumpingKnowledge::last);
    const SiteGraph graph = sites_of(models::build(model));
    ASSERT_EQ(graph.depth, 3);
    const int initial = graph.product(1).initial;
    EXPECT_EQ(graph.at(initial).kind, SiteKind::pointwise);
    EXPECT_EQ(graph.at(initial).dropout, 0);
    EXPECT_EQ(graph.at(initial).activation, Activation::relu);
    EXPECT_EQ(graph.at(graph.product(1).input).input, initial);
    EXPECT_EQ(graph.readers(initial).size(), 4U) << "a dropout and three layers";
    for (int l = 1; l <= 3; ++l) {
        const Site& product = graph.product(l);
        EXPECT_EQ(product.initial, initial);
        EXPECT_EQ(product.teleport, 0.1);
        EXPECT_DOUBLE_EQ(product.share, std::log(0.5 / l + 1)) << "l counts from 1";
        EXPECT_FALSE(product.reorderable());
        EXPECT_FALSE(product.propagates());
        ASSERT_TRUE(product.only_orders());
        EXPECT_EQ(product.only_orders()->operand, Operand::product);
        EXPECT_TRUE(graph.orders_backward(l));
    }
    EXPECT_TRUE(graph.reads_far());
    EXPECT_EQ(models::as_asked(model).pre, std::vector<std::int64_t>{});
    ModelRecord without = model;
    without.teleport = 0;
    EXPECT_TRUE(sites_of(models::build(without)).product(2).reorderable());
}

TEST(Sites, RefuseAnotherValueThatNoSumCanAdd) {
    const auto refused = [](const auto& change) {
        OpGraph changed = models::build(models::with_widths(record("gcnii", {}), {16, 12, 12, 7}));
        const auto of_layer_2 = [](OpKind kind) {
            return [kind](const Op& op) { return op.kind == kind && op.layer == 2; };
        };
        change(*std::ranges::find_if(changed.ops, of_layer_2(OpKind::aggregate)),
               *std::ranges::find_if(changed.ops, of_layer_2(OpKind::linear)));
        EXPECT_THROW(sites_of(changed), Error);
    };
    refused([](Op& aggregation, Op&) { aggregation.inputs[1] = aggregation.inputs[0]; });
    refused([](Op& aggregation, Op&) { aggregation.inputs[1] = 0; });  // of other columns
    refused([](Op& aggregation, Op&) { aggregation.teleport = 1; });
    refused([](Op& aggregation, Op&) { aggregation.hops = 2; });
    refused([](Op& aggregation, Op&) { aggregation.self = 1; });
    refused([](Op& aggregation, Op&) { aggregation.reduce = Reduce::max; });
    OpGraph changed = models::gcn({8, 7, 6, 5}, true);
    std::ranges::find(changed.ops, OpKind::linear, &Op::kind)->share = 0.5;
    EXPECT_THROW(sites_of(changed), Error) << "the identity is square";
}

// Weights decay unless a run says otherwise where they read the features.
TEST(Models, TheFirstMapOfTheFeaturesDecays) {
    const auto decaying = [](const ModelRecord& model) {
        std::string names;
        for (const Parameter& parameter : models::build(model).parameters) {
            if (parameter.decays) names += parameter.name + " ";
        }
        return names;
    };
    ModelRecord model = record("sage", {8, 4, 2});
    EXPECT_EQ(decaying(model), "layers.1.neighbour.weight layers.1.self.weight ");
    model.pre = {6, 5};
    EXPECT_EQ(decaying(model), "layers.1.input.0.weight ");
    EXPECT_EQ(decaying(models::with_widths(record("appnp", {}), {8, 4, 2})), "layers.1.input.0.weight ");
    EXPECT_EQ(decaying(record("appnp", {8, 2})), "layers.1.weight ");
}

// Each hop is a product of its own, which the next one reads, and a linear map of the last layer.
TEST(Sites, OfASign) {
    ModelRecord model = record("sign", {16, 16, 16, 7});
    model.post = {12};
    const SiteGraph graph = sites_of(models::build(model));
    EXPECT_EQ(graph.depth, 3);
    for (int l = 1; l <= 3; ++l) {
        EXPECT_FALSE(graph.product(l).maps());
        EXPECT_TRUE(graph.of_features(graph.products[static_cast<std::size_t>(l - 1)]));
        EXPECT_EQ(graph.result(std::min(l, 2)), graph.products[static_cast<std::size_t>(std::min(l, 2) - 1)]);
    }
    EXPECT_TRUE(graph.aggregates_features());
    EXPECT_TRUE(graph.reads_far()) << "the maps of the last layer read the features";
    EXPECT_FALSE(sites_of(models::gcn({8, 7, 6, 5}, true)).reads_far());
    const auto maps = std::ranges::count_if(graph.sites, [](const Site& s) { return s.kind == SiteKind::linear; });
    EXPECT_EQ(maps, 4 + 4);
    for (const Parameter& parameter : graph.parameters)
        EXPECT_EQ(parameter.decays, parameter.name.find(".hop.") != std::string::npos) << parameter.name;
    // One hop and its map are a product, as those of other models are.
    EXPECT_TRUE(sites_of(models::build(record("sign", {16, 7}))).product(1).maps());
    EXPECT_THROW(models::build(record("sign", {16, 12, 7})), Error);
    model.hops = 2;
    EXPECT_THROW(models::build(model), Error);
    const ModelRecord asked = models::with_widths(record("sign", {}), {16, 12, 7});
    EXPECT_EQ(asked.widths, (std::vector<std::int64_t>{16, 16, 7}));
    EXPECT_EQ(asked.post, (std::vector<std::int64_t>{12}));
}

TEST(Sites, HopsAreThoseOfTheLayersBefore) {
    ModelRecord model = record("sgc", {16, 12, 9, 7});
    model.hops = 4;
    const SiteGraph graph = sites_of(models::build(model));
    EXPECT_EQ(graph.hops_through(0), 0);
    EXPECT_EQ(graph.hops_through(2), 8);
    EXPECT_EQ(graph.hops(), 12);
    EXPECT_EQ(window(graph, 2, 3).hops(), 8);
}

TEST(Sites, RefuseHopsThatNoSumCanHave) {
    const auto refused = [](const char* model, const auto& change) {
        OpGraph changed = models::build(record(model, {8, 4, 2}));
        for (Op& op : changed.ops) {
            if (op.kind == OpKind::aggregate) change(op);
        }
        EXPECT_THROW(sites_of(changed), Error) << model;
    };
    refused("gcn", [](Op& op) { op.hops = 0; });
    refused("gcn", [](Op& op) { op.hops = max_hops + 1; });
    refused("gcn", [](Op& op) { op.teleport = -0.1; });
    refused("gcn", [](Op& op) { op.teleport = 1.1; });
    refused("gcn", [](Op& op) { op.hops = 2, op.self = 1; });
    refused("gat", [](Op& op) { op.hops = 2; });
    refused("agnn", [](Op& op) { op.teleport = 0.5; });
}

TEST(Models, ThatPropagateHaveTheirDefaults) {
    EXPECT_EQ(sites_of(models::build(record("sgc", {8, 2}))).product(1).hops, 2);
    EXPECT_EQ(sites_of(models::build(record("appnp", {8, 2}))).product(1).hops, 10);
    EXPECT_EQ(models::usual_layers("sgc"), 1);
    EXPECT_EQ(models::usual_layers("gcn"), 2);
    const ModelRecord appnp = models::with_widths(record("appnp", {}), {8, 6, 5, 2});
    EXPECT_EQ(appnp.pre, (std::vector<std::int64_t>{6, 5}));
    EXPECT_EQ(appnp.widths, (std::vector<std::int64_t>{8, 2}));
    EXPECT_TRUE(appnp.pre_activation);
    EXPECT_EQ(models::with_widths(record("sgc", {}), {8, 6, 2}).widths, (std::vector<std::int64_t>{8, 6, 2}));
    ModelRecord wrong = record("gcn", {8, 2});
    wrong.hops = 2;
    EXPECT_THROW(models::build(wrong), Error);
    wrong = record("sgc", {8, 2});
    wrong.teleport = 0.1;
    EXPECT_THROW(models::build(wrong), Error);
    wrong = record("appnp", {8, 2});
    wrong.theta = 0.5;
    EXPECT_THROW(models::build(wrong), Error);
    const auto refused = [](const auto& change) {
        ModelRecord gcnii = models::with_widths(record("gcnii", {}), {8, 4, 4, 2});
        EXPECT_NO_THROW(models::build(gcnii));
        change(gcnii);
        EXPECT_THROW(models::build(gcnii), Error);
    };
    refused([](ModelRecord& m) { m.pre.clear(); });
    refused([](ModelRecord& m) { m.pre = {6}; });
    refused([](ModelRecord& m) { m.widths[2] = 5; });
    refused([](ModelRecord& m) { m.jk = JumpingKnowledge::none; });
    refused([](ModelRecord& m) { m.jk = JumpingKnowledge::concat; });
    refused([](ModelRecord& m) { m.teleport = 1; });
    refused([](ModelRecord& m) { m.theta = 0; });
    refused([](ModelRecord& m) { m.hops = 2; });
}

TEST(Models, HeadsThatDoNotFitAreRefused) {
    EXPECT_THROW(models::build(attention({16, 24, 7}, 5, 1)), Error);
    EXPECT_NO_THROW(models::build(attention({16, 24, 7}, 5, 1, true)));
    EXPECT_THROW(models::build(attention({16, 24, 7}, -1, 1)), Error);
    EXPECT_THROW(models::build(attention({16, 24, 7}, 1, 2000)), Error);
    ModelRecord gcn = record("gcn", {16, 24, 7});
    gcn.heads = 4;
    EXPECT_THROW(models::build(gcn), Error);
    ModelRecord steep = attention({16, 24, 7}, 8, 1);
    steep.slope = 1.5;
    EXPECT_THROW(models::build(steep), Error);
}

// A skip is a sum without a weight where the widths allow it.
TEST(Sites, OfAResidualGcn) {
    ModelRecord model = record("gcn", {16, 16, 8});
    model.residual = Residual::input;
    const SiteGraph graph = sites_of(models::build(model));
    const std::vector<SiteKind> kinds = {SiteKind::input,   SiteKind::product, SiteKind::linear, SiteKind::pointwise,
                                         SiteKind::product, SiteKind::linear,  SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.at(2).parameter, -1);
    EXPECT_EQ(graph.at(2).input, 0);
    EXPECT_EQ(graph.at(2).addend, 1);
    EXPECT_EQ(graph.parameter(graph.at(5).parameter).name, "layers.2.residual.weight");
}

// Z of layer 1 has the norm beside it, and layer 2 adds it to its own; layer 3 has other columns.
TEST(Sites, OfAGcnThatAddsSums) {
    ModelRecord model = record("gcn", {16, 12, 12, 8});
    model.residual = Residual::sums, model.norm = Norm::layer;
    const SiteGraph graph = sites_of(models::build(model));
    const std::vector<SiteKind> kinds = {SiteKind::input,   SiteKind::product, SiteKind::norm, SiteKind::pointwise,
                                         SiteKind::product, SiteKind::linear,  SiteKind::norm, SiteKind::pointwise,
                                         SiteKind::product, SiteKind::linear,  SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.readers(1), (std::vector<int>{2, 5}));
    EXPECT_EQ(graph.at(5).parameter, -1);
    EXPECT_EQ(graph.at(5).addend, 4);
    EXPECT_EQ(graph.at(9).input, 5);
    EXPECT_EQ(graph.parameter(graph.at(9).parameter).name, "layers.3.residual.weight");
    const SiteGraph last = window(graph, 3, 3);
    EXPECT_EQ(last.at(2).input, 0);
}

// Without a norm the activation may not be made in place of Z.
TEST(Sites, OfSumsThatAnActivationFollows) {
    ModelRecord model = record("gcn", {16, 12, 12, 8});
    model.residual = Residual::sums, model.bias = true;
    const SiteGraph graph = sites_of(models::build(model));
    const std::vector<SiteKind> kinds = {SiteKind::input,   SiteKind::product, SiteKind::pointwise, SiteKind::pointwise,
                                         SiteKind::product, SiteKind::linear,  SiteKind::pointwise, SiteKind::pointwise,
                                         SiteKind::product, SiteKind::linear,  SiteKind::pointwise, SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.readers(2), (std::vector<int>{3, 5}));
    EXPECT_EQ(graph.at(3).activation, Activation::relu);
    EXPECT_EQ(graph.at(2).activation, Activation::none);
}

// Linear maps before layer 1 belong to it, and give it another width to read than the features have.
TEST(Sites, OfMapsBeforeAndBehindTheLayers) {
    ModelRecord model = record("gcn", {16, 12, 8});
    model.pre = {10, 6}, model.post = {9}, model.residual = Residual::linear;
    const SiteGraph graph = sites_of(models::build(model));
    const std::vector<SiteKind> kinds = {
        SiteKind::input,     SiteKind::linear, SiteKind::pointwise, SiteKind::linear,  SiteKind::pointwise,
        SiteKind::product,   SiteKind::linear, SiteKind::pointwise, SiteKind::product, SiteKind::linear,
        SiteKind::pointwise, SiteKind::linear, SiteKind::pointwise, SiteKind::linear,  SiteKind::loss};
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(widths_of(graph), (std::vector<std::int64_t>{6, 12, 12}));
    EXPECT_FALSE(graph.aggregates_features());
    EXPECT_TRUE(graph.orders_backward(1));
    EXPECT_EQ(graph.parameter(graph.at(3).parameter).name, "layers.1.input.1.weight");
    EXPECT_EQ(graph.parameter(graph.at(6).parameter).name, "layers.1.residual.weight");
    EXPECT_EQ(graph.parameter(graph.at(13).parameter).name, "layers.2.output.1.weight");
    // Every dropout has draws of its own.
    std::set<int> keys;
    int dropouts = 0;
    for (const Site& site : graph.sites) {
        if (site.dropout > 0) keys.insert(site.dropout), ++dropouts;
    }
    EXPECT_EQ(dropouts, 6);
    EXPECT_EQ(keys.size(), 6U);
    const SiteGraph first = with_widths(window(graph, 1, 2), {60, 120, 100});
    EXPECT_EQ(first.at(0).width, 16);
    EXPECT_EQ(first.at(3).width, 60);
}

// A norm stands behind the sum and its bias; what it reads stays beside what it makes.
TEST(Sites, OfLayerNorms) {
    ModelRecord model = record("gcn", {16, 12, 10, 8});
    model.norm = Norm::layer, model.bias = true;
    const SiteGraph graph = sites_of(models::build(model));
    const std::vector<SiteKind> hidden = {SiteKind::product, SiteKind::pointwise, SiteKind::norm, SiteKind::pointwise};
    std::vector<SiteKind> kinds{SiteKind::input};
    for (int l = 0; l < 2; ++l) kinds.insert(kinds.end(), hidden.begin(), hidden.end());
    kinds.insert(kinds.end(), {SiteKind::product, SiteKind::pointwise, SiteKind::loss});  // the last has no norm
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.parameter(graph.at(3).parameter).name, "layers.1.norm.weight");
    EXPECT_EQ(graph.parameter(graph.at(7).shift).name, "layers.2.norm.bias");
    EXPECT_TRUE(graph.aggregates_features());
    const SiteGraph inner = with_widths(window(graph, 2, 2), {120, 100});
    EXPECT_EQ(inner.at(3).width, 100);
    EXPECT_EQ(inner.parameter(inner.at(3).shift).shape.back(), 100);
    model.jk = JumpingKnowledge::last;
    const OpGraph headed = models::build(model);
    EXPECT_EQ(
        std::count_if(headed.ops.begin(), headed.ops.end(), [](const Op& op) { return op.kind == OpKind::layer_norm; }),
        3);
}

// A batch norm has running values, and no bias is before it, whose mean would take it away.
TEST(Sites, OfBatchNorms) {
    ModelRecord model = record("gcn", {16, 12, 10, 8});
    model.norm = Norm::batch, model.bias = true;
    SiteGraph graph = sites_of(models::build(model));
    ASSERT_EQ(graph.at(2).kind, SiteKind::norm);
    EXPECT_TRUE(graph.at(2).over_rows());
    EXPECT_EQ(graph.parameter(graph.at(2).running[0]).name, "layers.1.norm.running_mean");
    EXPECT_EQ(graph.parameter(graph.at(2).running[1]).name, "layers.1.norm.running_var");
    EXPECT_EQ(graph.last_over_rows(), 2) << "the last layer has none";
    EXPECT_EQ(window(graph, 3, 3).last_over_rows(), 0);
    EXPECT_EQ(window(graph, 2, 3).last_over_rows(), 1);
    const auto biases = [&] {
        return std::count_if(graph.parameters.begin(), graph.parameters.end(), [](const Parameter& parameter) {
            return parameter.name.ends_with(".bias") && !parameter.name.ends_with("norm.bias");
        });
    };
    EXPECT_EQ(biases(), 1) << "of the last layer";
    model.norm_after = NormAfter::activation, model.jk = JumpingKnowledge::last;
    graph = sites_of(models::build(model));
    EXPECT_EQ(biases(), 4);
    EXPECT_EQ(graph.last_over_rows(), 3);
}

TEST(Sites, MapsAreOfPositiveWidthsAndOneHead) {
    ModelRecord model = record("gcn", {16, 12, 8});
    model.pre = {0};
    EXPECT_THROW(models::build(model), Error);
    model.pre.clear(), model.pre_activation = true;
    EXPECT_THROW(models::build(model), Error);
    model.pre_activation = false, model.post = {4}, model.jk = JumpingKnowledge::last;
    EXPECT_THROW(models::build(model), Error);
    model.jk = JumpingKnowledge::none, model.name = "agnn";
    EXPECT_THROW(models::build(model), Error);
}

// Logits that all layers add to have a width of their own and the rows of the last layer.
TEST(Sites, OfJumpingKnowledge) {
    ModelRecord model = record("gcn", {16, 12, 10, 8});
    model.jk = JumpingKnowledge::concat;
    const SiteGraph graph = sites_of(models::build(model));
    EXPECT_EQ(widths_of(graph), (std::vector<std::int64_t>{16, 12, 10, 10}));
    const std::vector<SiteKind> layer = {SiteKind::product, SiteKind::pointwise, SiteKind::linear};
    std::vector<SiteKind> kinds{SiteKind::input};
    for (int l = 0; l < 3; ++l) kinds.insert(kinds.end(), layer.begin(), layer.end());
    kinds.push_back(SiteKind::loss);
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.at(6).addend, 3);
    EXPECT_EQ(graph.at(3).rows_of, 3);
    EXPECT_EQ(graph.at(9).columns_of, -1);
    EXPECT_EQ(graph.result(3), 8);
    const SiteGraph middle = with_widths(window(graph, 2, 2), {120, 100});
    EXPECT_EQ(middle.sites.back().width, 8);
    EXPECT_EQ(middle.at(middle.sites.back().input).rows_of, 1);
}

// As PyTorch Geometric's BasicGNN(jk="last"): the last convolution is hidden, and a linear map makes the logits.
TEST(Sites, OfALinearMapBehindTheLastLayer) {
    ModelRecord model = record("gcn", {16, 12, 10, 8});
    model.jk = JumpingKnowledge::last, model.bias = true;
    const SiteGraph graph = sites_of(models::build(model));
    EXPECT_EQ(widths_of(graph), (std::vector<std::int64_t>{16, 12, 10, 10}));
    std::vector<SiteKind> kinds{SiteKind::input};
    for (int l = 0; l < 3; ++l) kinds.insert(kinds.end(), {SiteKind::product, SiteKind::pointwise});
    kinds.insert(kinds.end(), {SiteKind::linear, SiteKind::pointwise, SiteKind::loss});
    ASSERT_EQ(kinds_of(graph), kinds);
    EXPECT_EQ(graph.parameter(graph.at(7).parameter).name, "layers.3.jk.weight");
    EXPECT_EQ(graph.parameter(graph.at(7).parameter).shape, (std::vector<std::int64_t>{10, 8}));
    EXPECT_EQ(graph.parameter(graph.at(8).parameter).name, "layers.3.jk.bias");
    EXPECT_EQ(graph.at(7).addend, -1) << "no other layer adds to the logits";
}

TEST(Models, RegistryBuildsByNameAndRefusesTheRest) {
    EXPECT_EQ(models::build(record("gcn", {8, 4, 2})).model, "gcn");
    EXPECT_THROW(models::build(record("gnc", {8, 4, 2})), Error);
    EXPECT_THROW(models::build(record("gcn", {8})), Error);
    EXPECT_THROW(models::build(record("gcn", {8, 0, 2})), Error);
    EXPECT_THROW(models::build(record("gcn", {8, 2}, "mean")), Error);
    EXPECT_THROW(models::build(record("sage", {8, 2}, "median")), Error);
    EXPECT_EQ(models::find("sage", "").name, "mean");
    EXPECT_EQ(models::build(record("sage", {8, 2}, "gcn")).parameters.size(), 1U);
    ModelRecord epsilon = record("gcn", {8, 2});
    epsilon.trains_epsilon = true;
    EXPECT_THROW(models::build(epsilon), Error);
}

// Fixed at 0, the vertex itself is on the diagonal; otherwise it is added to what a matrix without it makes.
TEST(Models, SumsAloneReadWeightsOfEdges) {
    const auto check = [](const char* name, const char* aggregator) {
        ModelRecord model;
        model.name = name;
        model.aggregator = aggregator;
        model.widths = {4, 3, 2};
        check_reads_weights(sites_of(models::build(model)));
    };
    for (const char* aggregator : {"mean", "sum", "gcn"}) EXPECT_NO_THROW(check("sage", aggregator));
    for (const char* model : {"gcn", "gin"}) EXPECT_NO_THROW(check(model, ""));
    for (const char* aggregator : {"max", "pool"}) EXPECT_THROW(check("sage", aggregator), Error);
    for (const char* model : {"gat", "agnn"}) EXPECT_THROW(check(model, ""), Error);
}

// The function is (1 + epsilon) h + M h, where M is the matrix of the in-neighbours alone, however it is normalised:
// the factor with which a product adds the vertex itself, plus the entry on the diagonal, is 1 + epsilon.
TEST(Models, GinAddsTheVertexAsItIsWhateverTheNormalisation) {
    for (const double epsilon : {0.0, -0.0, -1.0, -2.5, 1e-9, 1e-17, 1e30}) {
        for (const Normalisation kind : {Normalisation::none, Normalisation::symmetric, Normalisation::row_mean}) {
            ProblemRecord problem;
            problem.model = record("gin", {8, 4, 2});
            problem.model.epsilon = epsilon;
            const models::MatrixForm matrix = models::matrix_of(problem.model, kind);
            EXPECT_EQ(matrix.normalisation, kind);
            EXPECT_TRUE(!matrix.self_loops || kind == Normalisation::none) << "a diagonal that degrees divide";
            problem.graph.self_loops = matrix.self_loops;
            const SiteGraph graph = sites_of(models::build(problem));
            for (const int product : graph.products)
                EXPECT_EQ(graph.at(product).self + (matrix.self_loops ? 1 : 0), 1 + epsilon) << epsilon;
        }
    }
    ProblemRecord trained;
    trained.model = record("gin", {8, 4, 2});
    trained.model.trains_epsilon = true;
    EXPECT_FALSE(models::matrix_of(trained.model, Normalisation::none).self_loops);
}

// Plans of earlier versions have the vertex on the diagonal of a normalised matrix, too, and say so.
TEST(Models, GinIsBuiltOverTheMatrixThatAProblemHas) {
    ProblemRecord problem;
    problem.model = record("gin", {8, 4, 2});
    problem.graph.normalisation = Normalisation::row_mean;
    problem.graph.self_loops = true;
    EXPECT_FALSE(sites_of(models::build(problem)).product(1).adds_self());
    problem.graph.self_loops = false;
    EXPECT_EQ(sites_of(models::build(problem)).product(1).self, 1);
}

TEST(Models, GinsEpsilonTakesTheLoopsOutOfTheMatrix) {
    ModelRecord model = record("gin", {8, 4, 2});
    EXPECT_TRUE(models::matrix_of(model).self_loops);
    model.epsilon = 0.5;
    EXPECT_FALSE(models::matrix_of(model).self_loops);
    EXPECT_EQ(sites_of(models::build(model)).product(1).self, 1.5);
    model.trains_epsilon = true;
    const SiteGraph graph = sites_of(models::build(model));
    EXPECT_EQ(graph.parameter(graph.product(2).self_parameter).name, "layers.2.epsilon");
}

}  // namespace
}  // namespace gnnplan
