#pragma once

#include <gnnplan/base/activation.hpp>
#include <gnnplan/ir/steps/step.hpp>

#include <type_traits>

namespace gnnplan {

enum class MapOp : std::uint8_t {
    activate,  // in place: tensor = dropout(activation(tensor + operand)), out = bits (tensor > 0); operand, the bias,
               // and out are optional
    dropout,   // out = dropout(tensor); where no element is dropped, out is the tensor itself
    positive_mask,  // out = bits (tensor > 0)
    apply_mask,     // in place: tensor = tensor * operand bits / (1 - p)
    column_sum,     // out = column sums of tensor over the local rows, zero elsewhere: a partial sum
    add,            // in place: tensor = tensor + operand
    divide,         // in place: tensor = tensor / operand, 0 where operand is 0
    // In place: tensor, the gradient of dropout(activation(z)), becomes that of z; operand is what activate made, and
    // is missing where there is no activation.
    activation_gradient,
    add_scaled,    // in place: tensor = tensor + (scale + epsilon) * operand
    copy,          // out = tensor
    dot,           // out = the sum of tensor * operand over the local block: a partial sum
    difference,    // out = tensor(:, 1) - tensor(:, 0), of two columns
    blend,         // in place: tensor = (1 - scale) * tensor + scale * operand
    scaled,        // out = scale * tensor, which may be a parameter then; in place where there is no out
    add_identity,  // in place: tensor = tensor + scale * I, of a square matrix that stands whole on every rank
};

// Elementwise work on local blocks.
struct MapStep {
    MapOp op;
    TensorId tensor;
    std::optional<TensorId> operand;
    std::optional<TensorId> out;
    int layer;                              // whose dropout probability and key apply: the layer that reads the tensor
    Activation activation;                  // of activate and activation_gradient
    bool dropout;                           // of activate, apply_mask and activation_gradient: whether it takes part
    std::optional<TensorId> vertices = {};  // of what draws: whose numbers key the draws, if not rows
    double scale = 0;                       // of add_scaled, blend, scaled and add_identity
    std::optional<TensorId> epsilon = {};   // of add_scaled: a parameter of one element
    bool done_before = false;               // by the product that made the tensor; see mark_finishes()

    bool in_place() const {
        switch (op) {
            case MapOp::activate:
            case MapOp::apply_mask:
            case MapOp::add:
            case MapOp::divide:
            case MapOp::activation_gradient:
            case MapOp::add_scaled:
            case MapOp::blend:
            case MapOp::add_identity: return true;
            case MapOp::scaled: return !out;
            case MapOp::dropout:
            case MapOp::positive_mask:
            case MapOp::column_sum:
            case MapOp::copy:
            case MapOp::dot:
            case MapOp::difference: break;
        }
        return false;
    }
    bool takes_scale() const {
        return op == MapOp::add_scaled || op == MapOp::blend || op == MapOp::scaled || op == MapOp::add_identity;
    }

    static constexpr std::string_view kind = "map";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("op", self.op);
        self.in_place() ? archive.updates("tensor", self.tensor) : archive.reads("tensor", self.tensor);
        archive.reads("operand", self.operand);
        archive.writes("out", self.out);
        archive.identity("layer", self.layer);
        // Files have a key for ReLU, which was there before the others.
        bool relu = self.activation == Activation::relu;
        Activation other = relu ? Activation::none : self.activation;
        archive.value("relu", relu);
        archive.value("dropout", self.dropout);
        archive.reads("vertices", self.vertices);
        archive.optional("activation", other);
        if (self.takes_scale()) archive.identity("scale", self.scale);
        if (self.op == MapOp::add_scaled) archive.reads("epsilon", self.epsilon);
        archive.derived(self.done_before);
        if constexpr (!std::is_const_v<Self>) self.activation = relu ? Activation::relu : other;
    }
    TensorId subject() const { return tensor; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    std::optional<TensorId> dropped_features() const { return op == MapOp::dropout ? out : std::nullopt; }
};

}  // namespace gnnplan
