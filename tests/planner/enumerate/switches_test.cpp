// A search looks at some values of switches, says what they are worth, and refuses others.
#include "planner/enumerate/switches.hpp"

#include "planner/enumerate/grids.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace gnnplan::enumerate {
namespace {

SiteGraph model_of(const char* name, bool trains = true, Norm norm = Norm::none) {
    ModelRecord record;
    record.norm = norm;
    record.name = name;
    record.widths = {8, 8, 8};
    const OpGraph trained = models::build(record);
    return sites_of(trains ? trained : applied(trained));
}

const Distribution on_rows{Sharing::replicated, {4, 1, 1}}, both{Sharing::replicated, {2, 2, 1}};
const Distribution sharded{Sharing::sharded, {2, 2, 1}}, one{Sharing::replicated, {1, 1, 1}};

struct Keys {
    std::set<std::string> keys = {};
    void value(const char* key, const auto&, const FeltBy&) { keys.insert(key); }
    void optional(const char* key, const auto&, const FeltBy&) { keys.insert(key); }
};

TEST(Switches, RowsAreThoseOfTheFields) {
    Keys keys;
    const Switches any;
    Switches::fields(any, keys);
    std::set<std::string> rows_of_table;
    for (const SwitchRow* row : switch_rows()) rows_of_table.insert(row->key);
    EXPECT_EQ(rows_of_table, keys.keys);
}

// Ranks that are numbered along another axis first lie on other nodes, where there are several and two axes.
TEST(Switches, NodeAxesAreLookedAtWhereTheyDiffer) {
    const SiteGraph model = model_of("gcn");
    Asked asked{model};
    const auto others = [&](const Grid& grid) {
        std::vector<NodeAxis> axes;
        for (const Switches& s : on_other_node_axes(asked, {Sharing::replicated, grid}, {}))
            axes.push_back(s.node_axis);
        return axes;
    };
    EXPECT_TRUE(others({2, 2, 2}).empty()) << "on one node";
    asked.several_nodes = true;
    EXPECT_EQ(others({2, 2, 1}), std::vector{NodeAxis::x});
    EXPECT_EQ(others({2, 1, 2}), std::vector{NodeAxis::x}) << "without ranks along y, z comes first";
    EXPECT_EQ(others({1, 2, 2}), std::vector{NodeAxis::z});
    EXPECT_EQ(others({2, 2, 2}), (std::vector{NodeAxis::x, NodeAxis::z}));
    for (const Grid& grid : {Grid{4, 1, 1}, Grid{1, 4, 1}, Grid{1, 1, 4}}) EXPECT_TRUE(others(grid).empty());
    EXPECT_EQ(lowered_switches(asked, both, false).front().node_axis, NodeAxis::y);
    asked.pins.node_axis = NodeAxis::x;
    EXPECT_TRUE(others({2, 2, 1}).empty()) << "pinned";
    EXPECT_EQ(lowered_switches(asked, both, false).front().node_axis, NodeAxis::x);
    EXPECT_EQ(lowered_switches(asked, on_rows, false).front().node_axis, NodeAxis::y) << "the same order of ranks";
}

// Equal times are ranked in the order in which the search looks at them.
TEST(Switches, AreLookedAtInTheOrderOfTheSearch) {
    const SiteGraph model = model_of("gcn");
    Asked asked{model};
    asked.saves_rows = true;
    asked.pins.partition = true;
    std::vector<std::string> texts;
    for (const Switches& s : lowered_switches(asked, on_rows, false))
        texts.push_back(std::string(s.loss_rows ? "pruned " : "") + (s.permutation ? "permuted " : "") +
                        std::to_string(s.parts));
    EXPECT_EQ(texts, (std::vector<std::string>{"0", "permuted 0", "4", "pruned 0", "pruned permuted 0", "pruned 4"}));
    texts.clear();
    for (const Switches& s : product_switches(asked, on_rows, {}))
        texts.push_back(std::string(s.exchange == Exchange::panels ? "panels" : "rows") +
                        (s.overlap ? " overlap" : ""));
    EXPECT_EQ(texts, (std::vector<std::string>{"panels", "panels overlap", "rows", "rows overlap"}));
    EXPECT_EQ(product_switches(asked, one, {}), std::vector{Switches()});
}

// Where neighbours of a grid share a node, and there are several nodes.
TEST(Switches, PanelsAreRelayedWhereThatSavesAny) {
    const SiteGraph model = model_of("gcn");
    Asked asked{model};
    const auto relays = [&](int ranks_per_node) {
        asked.ranks_per_node = ranks_per_node;
        const std::vector<Switches> all = product_switches(asked, on_rows, {});
        return std::any_of(all.begin(), all.end(), [](const Switches& s) { return s.exchange == Exchange::relay; });
    };
    EXPECT_TRUE(relays(2));
    EXPECT_FALSE(relays(1));
    EXPECT_FALSE(relays(4));
    asked.pins.exchange = Exchange::panels;
    EXPECT_FALSE(relays(2));
    asked.pins.exchange = Exchange::relay;
    EXPECT_TRUE(relays(4)) << "whoever pins it has reasons";
}

TEST(Switches, ScoresAreStoredWithWholeNeighbourhoodsOnly) {
    const SiteGraph gat = model_of("gat");
    Asked asked{gat};
    const auto ways = [&](const Distribution& on) {
        asked.counted = false;
        std::vector<AttentionScores> found;
        for (const Switches& s : lowered_switches(asked, on, false)) found.push_back(s.attention);
        return found;
    };
    using Ways = std::vector<AttentionScores>;
    EXPECT_EQ(ways(both), Ways{AttentionScores::recompute}) << "it saves nothing where nothing is dropped";
    asked.drops_attention = true;
    EXPECT_EQ(ways(both), (Ways{AttentionScores::recompute, AttentionScores::stored}));
    EXPECT_EQ(ways(sharded), Ways{AttentionScores::recompute});
    asked.pins.attention = AttentionScores::stored;
    EXPECT_EQ(ways(both), Ways{AttentionScores::stored});
}

// Making layers again is slower than keeping what they make: only memory asks for it.
TEST(Switches, LayersAreMadeAgainForMemoryAlone) {
    const SiteGraph gcn = model_of("gcn"), inference = model_of("gcn", false);
    const auto values = [](Asked asked) {
        std::vector<int> found;
        for (const Switches& s : lowered_switches(asked, one, false)) {
            if (!s.permutation) found.push_back(s.remade);
        }
        return found;
    };
    Asked asked{gcn};
    EXPECT_EQ(values(asked), std::vector<int>{0});
    asked.buys_memory = true;
    std::vector<int> all{0};
    for (int layers = 1; layers < gcn.depth; layers *= 2) all.push_back(layers);
    ASSERT_GT(all.size(), 1U);
    EXPECT_EQ(values(asked), all);
    const SiteGraph normed = model_of("gcn", true, Norm::layer);
    Asked of_normed{normed};
    of_normed.buys_memory = true;
    all.insert(all.begin() + 1, remade_from_norms);
    EXPECT_EQ(values(of_normed), all) << "with norms, from the sums that they read, too";
    asked.pins.remade = 1;
    EXPECT_EQ(values(asked), std::vector<int>{1});
    Asked applied{inference};
    applied.buys_memory = true;
    EXPECT_EQ(values(applied), std::vector<int>{0});
}

TEST(Switches, OthersAreThoseThatThereAre) {
    const SiteGraph agnn = model_of("agnn");
    Configuration chosen;
    chosen.grid = both.grid;
    chosen.exchange = Exchange::rows;
    chosen.permutation = true;
    std::vector<std::string> others;
    for (const SwitchRow* row : switch_rows()) {
        if (row->others == nullptr) continue;
        for (const OtherValue& other : row->others(Asked{agnn}, chosen)) {
            others.push_back(std::string(row->key) + " " + other.value);
            EXPECT_NE(other.switches, chosen.switches());
        }
    }
    EXPECT_EQ(others, (std::vector<std::string>{"exchange panels", "overlap on", "permutation off", "scores whole_rows",
                                                "scores dealt_rows"}));
}

// Allowed beside fp32 where it is asked for and somebody is there to get messages.
TEST(Switches, MessagesAreRoundedOnlyWhereThatIsAllowed) {
    const SiteGraph gcn = model_of("gcn");
    const auto wires = [&](std::optional<Wire> pin, const Grid& grid) {
        Asked asked{gcn};
        asked.pins.wire = pin;
        std::set<Wire> found;
        for (const Switches& each : lowered_switches(asked, {Sharing::replicated, grid}, false))
            found.insert(each.wire);
        return found;
    };
    EXPECT_EQ(wires({}, {1, 4, 1}), std::set{Wire::fp32});
    EXPECT_EQ(wires(Wire::fp32, {1, 4, 1}), std::set{Wire::fp32});
    EXPECT_EQ(wires(Wire::bfloat16, {1, 4, 1}), (std::set{Wire::fp32, Wire::bfloat16}));
    EXPECT_EQ(wires(Wire::bfloat16, {1, 1, 1}), std::set{Wire::fp32});
}

TEST(Switches, PinsWithoutAUseAreRefused) {
    const auto refused = [](const SiteGraph& model, const auto& pin) -> std::string {
        Asked asked{model};
        pin(asked);
        try {
            check_pins(asked);
            return "";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return error.what();
        }
    };
    const SiteGraph gcn = model_of("gcn"), gat = model_of("gat"), inference = model_of("gat", false);
    EXPECT_NE(refused(gcn, [](Asked& a) { a.pins.scores = Scores::columns; }), "");
    EXPECT_EQ(refused(gcn, [](Asked& a) { a.pins.remade = 1; }), "");
    EXPECT_NE(refused(gcn, [&](Asked& a) { a.pins.remade = gcn.depth; }), "");
    EXPECT_NE(refused(gcn, [](Asked& a) { a.pins.remade = remade_from_norms; }), "");
    EXPECT_NE(refused(inference, [](Asked& a) { a.pins.remade = 1; }), "");
    EXPECT_NE(refused(gcn, [](Asked& a) { a.pins.attention = AttentionScores::stored; }), "");
    EXPECT_EQ(refused(gat, [](Asked& a) { a.pins.attention = AttentionScores::stored; }), "");
    EXPECT_NE(refused(inference, [](Asked& a) { a.pins.attention = AttentionScores::stored; }), "");
    EXPECT_NE(refused(inference, [](Asked& a) { a.pins.loss_rows = true; }), "");
    EXPECT_EQ(refused(inference, [](Asked& a) { a.pins.loss_rows = false; }), "");
    EXPECT_NE(refused(gat, [](Asked& a) { a.pins.bf16 = true; }), "");
    EXPECT_EQ(refused(gcn, [](Asked& a) { a.pins.bf16 = true; }), "");
    EXPECT_NE(refused(gat, [](Asked& a) { a.pins.wire = Wire::bfloat16; }), "") << "attention weighs by differences";
    EXPECT_NE(refused(model_of("agnn"), [](Asked& a) { a.pins.wire = Wire::bfloat16; }), "");
    EXPECT_EQ(refused(gat, [](Asked& a) { a.pins.wire = Wire::fp32; }), "");
    EXPECT_EQ(refused(gcn, [](Asked& a) { a.pins.wire = Wire::bfloat16; }), "");
    EXPECT_NE(refused(gcn, [](Asked& a) { a.pins.factored_values = a.edge_weights = true; }), "");
    EXPECT_NE(refused(gcn, [](Asked& a) { a.pins.partition = a.in_shares = true; }), "");
    EXPECT_NE(refused(gcn, [](Asked& a) { a.pins.exchange = Exchange::none; }), "");
}

}  // namespace
}  // namespace gnnplan::enumerate
