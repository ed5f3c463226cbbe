#include "planner/enumerate/choices.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

LayerRules rules(int layer, int layers, bool columns_split) {
    LayerRules r;
    r.layer = layer;
    r.layers = layers;
    r.columns_split = columns_split;
    return r;
}

// Orders of both passes and the operand; the loss in C of a last layer that ends there; layer 1 has no input gradient,
// but an input: varying or constant, aggregated once, in F.
TEST(LayerChoices, Count) {
    EXPECT_EQ(layer_choices(rules(2, 3, true), false).size(), 2U * 2 * 2);
    EXPECT_EQ(layer_choices(rules(3, 3, true), false).size(), 2U * 2 * 2 + 2 * 2);
    EXPECT_EQ(layer_choices(rules(3, 3, false), false).size(), 2U * 2 * 2);
    // S with T: varying, constant, cached, cached in F; S with G: varying, constant; D: both operands, each with H^0 in
    // F.
    EXPECT_EQ(layer_choices(rules(1, 3, true), false).size(), 4U + 2 + 2 * 2 * 2);
    EXPECT_EQ(layer_choices(rules(1, 3, false), false).size(), 3U + 2 + 2 * 2);
}

TEST(LayerChoices, LeanOnesAreSomeOfThem) {
    for (const int layer : {1, 2, 3}) {
        for (const bool split : {false, true}) {
            const auto all = layer_choices(rules(layer, 3, split), false);
            const auto undominated_only = layer_choices(rules(layer, 3, split), true);
            EXPECT_LT(undominated_only.size(), all.size());
            for (const LayerChoice& choice : undominated_only) {
                EXPECT_NE(std::find(all.begin(), all.end(), choice), all.end());
                const bool makes_product = choice.forward == Order::sparse_first;
                const bool makes_gradient = choice.backward == Order::sparse_first;
                const bool again = choice.operand == Operand::product ? !makes_product : !makes_gradient;
                EXPECT_FALSE(again && (makes_product || makes_gradient)) << "what a pass leaves is not made again";
            }
        }
    }
}

TEST(LayerChoices, PinsAreObeyed) {
    LayerRules pinned = rules(2, 2, true);
    pinned.forward = Order::dense_first;
    pinned.backward = Order::sparse_first;
    for (const LayerChoice& choice : layer_choices(pinned, false)) {
        EXPECT_EQ(choice.forward, Order::dense_first);
        EXPECT_EQ(choice.backward, Order::sparse_first);
    }
    LayerRules first = rules(1, 2, true);
    first.backward = Order::dense_first;  // nobody needs it, whatever is written
    first.constant_input = true;
    for (const LayerChoice& choice : layer_choices(first, false)) {
        EXPECT_EQ(choice.backward, Order::none);
        EXPECT_TRUE(choice.constant_input);
    }
}

TEST(LayerChoices, WrittenIntoAConfiguration) {
    Configuration c;
    apply({{Order::sparse_first, Order::none, Operand::product, true, true, true},
           {Order::sparse_first, Order::dense_first, Operand::product},
           {Order::dense_first, Order::sparse_first, Operand::gradient, false, false, false, true}},
          c);
    EXPECT_EQ(text(c.forward), "SSD");
    EXPECT_EQ(text(c.backward), "SD-");
    EXPECT_EQ(text(c.operands), "TTG");
    EXPECT_EQ(kept_products(c), (std::vector<std::string>{"T1 across epochs", "T2"}));
    EXPECT_TRUE(c.constant_input && c.cached_aggregation && c.replicated_input && c.column_loss);
}

}  // namespace
}  // namespace gnnplan::enumerate
