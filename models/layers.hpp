// Writes a model down operation by operation.
#pragma once

#include <gnnplan/ir/op_graph.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gnnplan::models {

class Layers {
public:
    explicit Layers(std::string model, std::int64_t features) {
        graph_.model = std::move(model);
        add({OpKind::input, {}, features, 0});
    }

    // The operation whose value layers go on from, and its columns.
    int last() const { return static_cast<int>(graph_.ops.size()) - 1; }

    void begin(int layer) { layer_ = layer; }
    // Each returns the operation, which reads `of`, or the one before it.
    int dropout(int of) { return add({OpKind::dropout, {of}, width(of), layer_}); }
    int aggregate(int of) { return add({OpKind::aggregate, {of}, width(of), layer_}); }
    // `part`: what the weight is called within its layer, "" if the layer has no other.
    int linear(int of, std::int64_t columns, const std::string& part = "") {
        const std::string number = std::to_string(layer_);
        const std::string name = "layers." + number + (part.empty() ? "" : "." + part) + ".weight";
        const std::string symbol = "W" + number + (part.empty() ? "" : "." + part);
        // Kipf & Welling decay the first layer's weights only.
        const int id = parameter({name, symbol, {width(of), columns}, Init::glorot, layer_ == 1});
        return add({OpKind::linear, {of}, columns, layer_, id});
    }
    int bias(int of, const std::string& part = "") {
        const std::string number = std::to_string(layer_);
        const std::string inner = part.empty() ? "" : "." + part;
        const int id =
            parameter({"layers." + number + inner + ".bias", "b" + number + inner, {width(of)}, Init::zeros, false});
        return add({OpKind::bias, {of}, width(of), layer_, id});
    }
    int relu(int of) { return add({OpKind::relu, {of}, width(of), layer_}); }
    int sum(int a, int b) { return add({OpKind::add, {a, b}, width(a), layer_}); }

    // Ends the model with the loss of `logits`.
    OpGraph end(int logits) {
        add({OpKind::softmax_cross_entropy, {logits}, width(logits), layer_});
        return std::move(graph_);
    }

private:
    std::int64_t width(int op) const { return graph_.ops[static_cast<std::size_t>(op)].width; }
    int add(Op op) {
        graph_.ops.push_back(std::move(op));
        return last();
    }
    int parameter(Parameter parameter) {
        graph_.parameters.push_back(std::move(parameter));
        return static_cast<int>(graph_.parameters.size()) - 1;
    }

    OpGraph graph_;
    int layer_ = 0;
};

}  // namespace gnnplan::models
