// A layer's products in the words of PyTorch.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/sites.hpp>

#include <string>

namespace gnnplan::tools {

// The letters of layer `layer`, 1 .. L. An inference has no backward pass.
struct LayerOrders {
    Order forward;
    Order backward = Order::none;
    Operand operand = Operand::product;
    bool cached = false;    // A @ X is made once
    bool autograd = true;   // whether automatic differentiation takes the backward products in the plan's order
    bool backwards = true;  // whether there is a backward pass
};
LayerOrders layer_orders(const Configuration& configuration, const SiteGraph& model, int layer);

struct LayerWords {
    std::string forward;   // "A @ (x @ W2)"
    std::string backward;  // "x.grad = (A.T @ g) @ W2.T; W2.grad = x.T @ (A.T @ g)"; "" of an inference
};
// The product with the features that is made once.
std::string kept_words(const Site& product);

LayerWords layer_words(const Configuration& configuration, const SiteGraph& model, int layer);

}  // namespace gnnplan::tools
