#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>
#include <gnnplan/models.hpp>

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
    EXPECT_TRUE(hidden.relu && hidden.dropout == 2 && hidden.layer == 1);
    EXPECT_EQ(graph.parameter(hidden.parameter).symbol, "b1");
    const Site& logits = graph.sites[4];
    EXPECT_TRUE(!logits.relu && logits.dropout == 0 && logits.parameter >= 0);
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
    EXPECT_FALSE(middle.sites[4].relu);
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
    EXPECT_TRUE(sage.at(3).relu && !sage.at(6).relu);
    const SiteGraph gin = window(sites_of(models::gin({9, 8, 7, 6, 5}, true)), 2, 3);
    EXPECT_TRUE(gin.at(2).relu && gin.at(6).relu) << "inner activations stay";
    EXPECT_FALSE(gin.at(8).relu);
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

TEST(Models, RegistryBuildsByNameAndRefusesTheRest) {
    EXPECT_EQ(models::build("gcn", {8, 4, 2}, false).model, "gcn");
    EXPECT_THROW(models::build("gnc", {8, 4, 2}, false), Error);
    EXPECT_THROW(models::build("gcn", {8}, false), Error);
    EXPECT_THROW(models::build("gcn", {8, 0, 2}, false), Error);
    EXPECT_THROW(models::build("gcn", {8, 2}, false, "mean"), Error);
    EXPECT_THROW(models::build("sage", {8, 2}, false, "median"), Error);
    EXPECT_EQ(models::find("sage", "").name, "mean");
    EXPECT_EQ(models::build("sage", {8, 2}, false, "gcn").parameters.size(), 1U);
}

}  // namespace
}  // namespace gnnplan
