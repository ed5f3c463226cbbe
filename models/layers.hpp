// Writes a model down operation by operation.
#pragma once

#include <gnnplan/ir/op_graph.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gnnplan::models {

// The operations of one layer after the other. Each of them is added behind the others, reads the operation `of`, and is
// returned.
class Layers {
public:
    int dropout(int of) { return add({OpKind::dropout, {of}, width(of), layer_}); }
    int aggregate(int of) { return add({OpKind::aggregate, {of}, width(of), layer_}); }
    // `part`: what the weight is called within its layer, "" if the layer has no other.
    int linear(int of, std::int64_t columns, const std::string& part = "") {
        // Kipf & Welling decay the first layer's weights only.
        const int id = parameter("W", part, ".weight", {width(of), columns}, Init::glorot, layer_ == 1);
        return add({OpKind::linear, {of}, columns, layer_, id});
    }
    int bias(int of, const std::string& part = "") {
        const int id = parameter("b", part, ".bias", {width(of)}, Init::zeros, false);
        return add({OpKind::bias, {of}, width(of), layer_, id});
    }
    int relu(int of) { return add({OpKind::relu, {of}, width(of), layer_}); }
    int sum(int a, int b) { return add({OpKind::add, {a, b}, width(a), layer_}); }

private:
    template <class Layer>
    friend OpGraph stack(const std::string& model, const std::vector<std::int64_t>& widths, const Layer& layer);

    std::int64_t width(int op) const { return graph_.ops[static_cast<std::size_t>(op)].width; }
    int add(Op op) {
        graph_.ops.push_back(std::move(op));
        return static_cast<int>(graph_.ops.size()) - 1;
    }
    int parameter(const std::string& letter, const std::string& part, const std::string& kind,
                  std::vector<std::int64_t> shape, Init init, bool decays) {
        const std::string place = std::to_string(layer_) + (part.empty() ? "" : "." + part);
        graph_.parameters.push_back({"layers." + place + kind, letter + place, std::move(shape), init, decays});
        return static_cast<int>(graph_.parameters.size()) - 1;
    }

    OpGraph graph_;
    int layer_ = 0;
};

// A network of widths f_0 .. f_L with ReLU between its layers and the loss behind the last. `layer(layers, h, columns)`
// adds the operations of one layer, which make `columns` columns of the operation `h`, and returns the last of them.
template <class Layer>
OpGraph stack(const std::string& model, const std::vector<std::int64_t>& widths, const Layer& layer) {
    Layers layers;
    layers.graph_.model = model;
    int value = layers.add({OpKind::input, {}, widths.front(), 0});
    for (std::size_t l = 1; l < widths.size(); ++l) {
        layers.layer_ = static_cast<int>(l);
        value = layer(layers, value, widths[l]);
        if (l + 1 < widths.size()) value = layers.relu(value);
    }
    layers.add({OpKind::softmax_cross_entropy, {value}, widths.back(), layers.layer_});
    return std::move(layers.graph_);
}

}  // namespace gnnplan::models
