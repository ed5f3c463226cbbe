// Writes a model down operation by operation.
#pragma once

#include <gnnplan/ir/op_graph.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/models.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::models {

// The operations of one layer after the other. Each of them is added behind the others, reads the operation `of`, and
// is returned.
class Layers {
public:
    explicit Layers(const ModelRecord& model) : model_(model) { graph_.model = model.name; }

    int aggregate(int of, Reduce reduce = Reduce::sum) {
        Op op{OpKind::aggregate, {of}, width(of), layer_};
        op.reduce = reduce;
        return add(op);
    }
    // As many sums one after the other as the model has hops, with its teleport.
    int propagate(int of) {
        const ModelRecord model = with_defaults(model_);
        Op op{OpKind::aggregate, {of}, width(of), layer_};
        op.hops = model.hops;
        op.teleport = model.teleport.value_or(0);
        return add(op);
    }
    // A sum over the in-neighbours and 1 + epsilon times the vertex itself.
    int aggregate_with_self(int of) {
        Op op{OpKind::aggregate, {of}, width(of), layer_};
        op.self = 1 + model_.epsilon;
        if (model_.trains_epsilon) op.parameter = parameter("e", "", ".epsilon", {1}, Init::zeros, false);
        return add(op);
    }
    // A sum and, by the model's teleport, what has been made before layer 1: (1 - teleport) A^T H + teleport H^0.
    int aggregate_with_initial(int of) {
        const double teleport = with_defaults(model_).teleport.value_or(0);
        if (teleport == 0) return aggregate(of);
        Op op{OpKind::aggregate, {of, initial_}, width(of), layer_};
        op.teleport = teleport;
        return add(op);
    }
    // Attention over what a linear map has made of `of`, the columns of all heads.
    int attend(int of, Heads heads) {
        const std::int64_t columns = width(of) / heads.count;
        const std::vector<std::int64_t> shape{heads.count, columns};
        heads.source = parameter("a", "attention.source", "", shape, Init::glorot, false);
        heads.target = parameter("a", "attention.target", "", shape, Init::glorot, false);
        Op op{OpKind::aggregate, {of}, heads.average ? columns : width(of), layer_};
        op.reduce = Reduce::attention;
        op.heads = heads;
        return add(op);
    }
    // Sums that are weighed by beta times cosines.
    int compare(int of) {
        Op op{OpKind::aggregate, {of}, width(of), layer_};
        op.reduce = Reduce::cosine;
        op.parameter = parameter("beta", "", ".beta", {1}, Init::ones, false);
        return add(op);
    }
    // `part`: what the weight is called within its layer, "" if the layer has no other. Kipf & Welling decay the first
    // layer's weights only: here those of the layer, or of the map before it, that reads the features.
    int linear(int of, std::int64_t columns, const std::string& part = "", bool of_features = false) {
        const bool decays = of_features || (layer_ == 1 && model_.pre.empty());
        const int id = parameter("W", part, ".weight", {width(of), columns}, Init::glorot, decays);
        return add({OpKind::linear, {of}, columns, layer_, id});
    }
    // H (share W + (1 - share) I).
    int mix(int of, std::int64_t columns, double share) {
        const int made = linear(of, columns);
        graph_.ops.back().share = share;
        return made;
    }
    // Nothing unless the model has biases.
    int bias(int of, const std::string& part = "") {
        if (!model_.bias) return of;
        const int id = parameter("b", part, ".bias", {width(of)}, Init::zeros, false);
        return add({OpKind::bias, {of}, width(of), layer_, id});
    }
    int activate(int of) {
        const Activation activation = model_.activation.value_or(Activation::relu);
        return add({operation_of(activation), {of}, width(of), layer_});
    }
    // A norm, begun as the identity but for means and lengths.
    int norm(int of) {
        const bool batch = model_.norm == Norm::batch;
        const auto vector = [&](const char* symbol, const char* name, Init init) {
            return parameter(symbol, "norm", name, {width(of)}, init, false);
        };
        Op op{batch ? OpKind::batch_norm : OpKind::layer_norm, {of}, width(of), layer_};
        op.parameter = vector("g", ".weight", Init::ones);
        op.shift = vector("b", ".bias", Init::zeros);
        if (batch) op.running = {vector("m", ".running_mean", Init::zeros), vector("v", ".running_var", Init::ones)};
        return add(op);
    }
    int sum(int a, int b) { return add({OpKind::add, {a, b}, width(a), layer_}); }
    bool is_last() const { return layer_ + 1 == static_cast<int>(model_.widths.size()); }
    std::int64_t width(int op) const { return graph_.ops[static_cast<std::size_t>(op)].width; }

    int input() { return add({OpKind::input, {}, model_.widths.front(), 0}); }
    // Dropout of what layer `l` reads.
    int dropout(int of, int l) { return add({OpKind::dropout, {of}, width(of), l}); }
    // `of` is what stands before layer 1, before its dropout.
    void begins_with(int of) { initial_ = of; }
    // Operations added from now on belong to layer `l`.
    void begin(int l) { layer_ = l; }
    OpGraph end(int logits) {
        Op end{operation_of(model_.loss), {logits}, model_.widths.back(), layer_};
        end.rocauc = model_.rocauc;
        add(std::move(end));
        return std::move(graph_);
    }

private:
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

    const ModelRecord& model_;
    OpGraph graph_;
    int layer_ = 0;
    int initial_ = -1;
};

// The network around and between the layers of a model.
class Stack {
public:
    // `last_part`: what the last bias of each layer is called; none where the layer has added it.
    Stack(const ModelRecord& model, std::optional<std::string> last_part)
        : model_(model),
          last_part_(std::move(last_part)),
          layers_(model),
          depth_(static_cast<int>(model.widths.size()) - 1) {}

    template <class Layer>
    OpGraph made_of(const Layer& layer) {
        layers_.begin(1);
        int read = before_layers(layers_.dropout(layers_.input(), 1));
        int logits = -1;
        for (int l = 1; l <= depth_; ++l) {
            layers_.begin(l);
            const std::int64_t columns = columns_of(l, layers_.width(read));
            int value = with_residual(layer(layers_, read, columns), residual_of(read), columns);
            const bool ends = l == depth_ && !has_head();
            // A batch norm would subtract the bias with the mean.
            if (last_part_ && (ends || model_.norm != Norm::batch || model_.norm_after != NormAfter::sum))
                value = layers_.bias(value, *last_part_);
            sum_before_ = value;
            if (ends) return layers_.end(value);
            read = ended(value, l + 1);
            if (model_.jk == JumpingKnowledge::none || (model_.jk == JumpingKnowledge::last && l < depth_)) continue;
            const int part = layers_.linear(read, model_.widths.back(), "jk");
            logits = logits < 0 ? part : layers_.sum(logits, part);
        }
        return layers_.end(logits < 0 ? behind_layers(read) : layers_.bias(logits, "jk"));
    }

private:
    bool has_head() const { return model_.jk != JumpingKnowledge::none || !model_.post.empty(); }
    // Before a head the last layer is as wide as the one before, or as what layer 1 reads.
    std::int64_t columns_of(int l, std::int64_t read) const {
        const bool ends = l == depth_ && has_head() && (l > 1 || !model_.pre.empty());
        return ends ? read : model_.widths[static_cast<std::size_t>(l)];
    }
    // The operation that a layer adds to what it has made of `read`; -1: none.
    int residual_of(int read) const {
        if (model_.residual == Residual::none) return -1;
        return model_.residual == Residual::sums ? sum_before_ : read;
    }
    int with_residual(int value, int residual, std::int64_t columns) {
        if (residual < 0) return value;
        const bool itself = model_.residual != Residual::linear && layers_.width(residual) == columns;
        return layers_.sum(value, itself ? residual : layers_.linear(residual, columns, "residual"));
    }
    int mapped(int of, std::int64_t columns, const std::string& part) {
        return layers_.bias(layers_.linear(of, columns, part), part);
    }
    // A layer's sum with all that stands behind it; the norm stands behind one of these operations.
    int ended(int value, int key) {
        const auto normed = [&](NormAfter here, int of) {
            return model_.norm != Norm::none && model_.norm_after == here ? layers_.norm(of) : of;
        };
        value = normed(NormAfter::activation, layers_.activate(normed(NormAfter::sum, value)));
        return normed(NormAfter::dropout, layers_.dropout(value, key));
    }
    // Draws of dropout are keyed by layers, 1 to L; the maps behind them and those before come next.
    int before_layers(int read) {
        int key = depth_ + static_cast<int>(model_.post.size()) + 1;
        for (std::size_t k = 0; k < model_.pre.size(); ++k) {
            const std::string part = "input." + std::to_string(k);
            int value = layers_.bias(layers_.linear(read, model_.pre[k], part, k == 0), part);
            if (model_.pre_activation || k + 1 < model_.pre.size()) value = layers_.activate(value);
            layers_.begins_with(value);
            read = layers_.dropout(value, ++key);
        }
        return read;
    }
    int behind_layers(int read) {
        int key = depth_ + 1;
        for (std::size_t k = 0; k < model_.post.size(); ++k)
            read =
                layers_.dropout(layers_.activate(mapped(read, model_.post[k], "output." + std::to_string(k))), ++key);
        return mapped(read, model_.widths.back(), "output." + std::to_string(model_.post.size()));
    }

    const ModelRecord& model_;
    std::optional<std::string> last_part_;
    Layers layers_;
    int depth_;
    int sum_before_ = -1;  // what the layer before has made, with its bias: Z
};

// A network of widths f_0 .. f_L. `layer(layers, h, columns)` adds the operations of one layer, which make `columns`
// columns of the operation `h`, but for its last bias, called `last_part` if it is not among them, and returns the last
// of them. The
// operations between the layers are the same for all models:
//   Z^l = layer(H) + residual + b, H^l = activation(Z^l), H = dropout(H^(l-1)),
// where residual is H, or H W where widths differ, or Z^(l-1), which layer 1 does not have;
// the last layer has no activation, and its output are the logits. A norm stands behind the bias, the activation or the
// dropout of every layer that has an activation.
//
// Linear maps `pre` make H^0 of the features, each of dropout of what the one before it has made, with the activation
// between them. With a head, all L layers have an activation, and the last is as wide as the one before: with jk
// `concat` the logits are the sum of dropout(H^l) W^l over all layers, which is [H^1 .. H^L] W, with `last` they are
// those of the last layer alone, dropout(H^L) W^L, and with `post` the maps behind it are as those before.
template <class Layer>
OpGraph stack(const ModelRecord& model, const std::optional<std::string>& last_part, const Layer& layer) {
    return Stack(model, last_part).made_of(layer);
}

}  // namespace gnnplan::models
