#pragma once

#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

enum class MapOp : std::uint8_t {
    activate,  // in place: tensor = dropout(relu(tensor + operand)), out = bits (tensor > 0); operand, the bias, and
               // out are optional
    dropout,   // out = dropout(tensor); where no element is dropped, out is the tensor itself
    positive_mask,  // out = bits (tensor > 0)
    apply_mask,     // in place: tensor = tensor * operand bits / (1 - p)
    column_sum,     // out = column sums of tensor over the local rows, zero elsewhere: a partial sum
    add,            // in place: tensor = tensor + operand
    divide,         // in place: tensor = tensor / operand, 0 where operand is 0
};

// Elementwise work on local blocks.
struct MapStep {
    MapOp op;
    TensorId tensor;
    std::optional<TensorId> operand;
    std::optional<TensorId> out;
    int layer;                              // whose dropout probability and key apply: the layer that reads the tensor
    bool relu;                              // of activate
    bool dropout;                           // of activate and apply_mask: whether dropout takes part
    std::optional<TensorId> vertices = {};  // of activate and dropout: whose numbers key the draws, if not rows

    bool in_place() const {
        switch (op) {
            case MapOp::activate:
            case MapOp::apply_mask:
            case MapOp::add:
            case MapOp::divide: return true;
            case MapOp::dropout:
            case MapOp::positive_mask:
            case MapOp::column_sum: break;
        }
        return false;
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
        archive.value("relu", self.relu);
        archive.value("dropout", self.dropout);
        archive.reads("vertices", self.vertices);
    }
    TensorId subject() const { return tensor; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    std::optional<TensorId> dropped_features() const { return op == MapOp::dropout ? out : std::nullopt; }
};

}  // namespace gnnplan
