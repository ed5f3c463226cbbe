// Rule: what may be chosen for one layer in the full space, given where its neighbours leave matrices.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/sites.hpp>

#include <optional>
#include <vector>

namespace gnnplan::enumerate {

struct LayerChoice {
    Order forward = Order::sparse_first;
    Order backward = Order::none;
    std::optional<Operand> operand = Operand::product;  // none of an inference, which has no weight gradient
    // Layer 1 has these: the features do not change; T^1 is made once; T^1 or H^0 lies in F.
    bool constant_input = false;
    bool cached_aggregation = false;
    bool replicated_input = false;
    // The last layer has this: the loss is taken of logits in C.
    bool column_loss = false;
    bool operator==(const LayerChoice&) const = default;
};

// The properties of a layer that decide its choices.
struct LayerRules {
    int layer = 1;
    int layers = 1;
    bool trains = true;                      // whether there is a backward pass
    bool orders_backward = false;            // of layer 1: its products have an order in that pass, too
    bool columns_split = false;              // y > 1 and dense operands are split over it
    std::optional<OnlyOrders> only;          // where its products have one order
    bool leaves_columns = true;              // its result may be split by columns
    bool maps = true;                        // it has a linear map
    std::optional<Operand> operand;          // pinned: of its weight gradient
    bool cachable = true;                    // what layer 1 aggregates is the same in every epoch if its input is
    std::optional<bool> constant_input;      // pinned: whether the configuration relies on features that never change
    std::optional<Order> forward, backward;  // pinned
};

// Every choice, or with `undominated_only` those that no other beats in time: a product that a pass leaves anyway is
// never made again, and a constant input that is aggregated first is aggregated once.
std::vector<LayerChoice> layer_choices(const LayerRules& rules, bool undominated_only);

// Layer choices 1 .. L written into a configuration.
void apply(const std::vector<LayerChoice>& choices, Configuration& configuration);
// Those of a configuration of the full space.
std::vector<LayerChoice> choices_of(const Configuration& configuration);

}  // namespace gnnplan::enumerate
