#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {
namespace {

void check_mask(const StepCheck& step, TensorId tensor, TensorId mask) {
    step.typed(mask, DType::bits), step.written(mask), step.same_shape(tensor, mask);
    step.in_layout(mask, step.at(tensor).layout);
}

void check_vertices(const StepCheck& step, const MapStep& map) {
    const Tensor& tensor = step.at(map.tensor);
    step.with_role(*map.vertices, {Role::vertices}), step.shaped(*map.vertices, tensor.rows, 1);
    step.in_layout(*map.vertices, {tensor.layout.rows, {}, {}});
    step.require(step.at(*map.vertices).space == tensor.space, "the vertices are not those of the rows");
    const bool draws = map.op == MapOp::activate || map.op == MapOp::dropout || map.op == MapOp::activation_gradient;
    step.require(draws, "only dropout is keyed by vertices");
}

// Another dense matrix of the same shape, in the same blocks.
void check_other(const StepCheck& step, TensorId tensor, TensorId other) {
    step.dense(other), step.distinct(tensor, other), step.same_shape(tensor, other);
    step.in_layout(other, step.at(tensor).layout);
}

}  // namespace

void MapStep::check(const StepCheck& step) const {
    step.dense(tensor);
    if (vertices) check_vertices(step, *this);
    const auto only_out = [&](const char* message) { step.require(!operand && out, message); };
    switch (op) {
        case MapOp::activate:
            step.written(tensor);
            if (operand) step.with_role(*operand, {Role::bias}), step.shaped(*operand, 1, step.at(tensor).columns);
            if (out) check_mask(step, tensor, *out);
            return;
        case MapOp::dropout:
            only_out("dropout takes an output and no operand");
            step.with_role(tensor, {Role::features});
            step.dense(*out), step.written(*out), step.same_shape(tensor, *out);
            return step.in_layout(*out, step.at(tensor).layout);
        case MapOp::positive_mask:
            only_out("positive_mask takes an output and no operand");
            return check_mask(step, tensor, *out);
        case MapOp::apply_mask:
            step.written(tensor), step.require(operand && !out, "apply_mask takes an operand and no output");
            step.typed(*operand, DType::bits), step.same_shape(tensor, *operand);
            return step.in_layout(*operand, step.at(tensor).layout);
        case MapOp::column_sum:
            only_out("column_sum takes an output and no operand");
            step.typed(*out, DType::f32), step.written(*out), step.shaped(*out, 1, step.at(tensor).columns);
            step.require(step.placed(tensor, layout_r()) || step.placed(tensor, layout_c()),
                         "replicated rows would count twice");
            return step.in_layout(*out, layout_partial());
        case MapOp::add:
        case MapOp::divide:
            step.written(tensor), step.require(operand && !out, "add and divide take an operand and no output");
            return check_other(step, tensor, *operand);
        case MapOp::activation_gradient:
            step.written(tensor);
            step.require(operand.has_value() == (activation != Activation::none) && !out,
                         "the gradient of an activation takes what that has made and no output");
            if (operand) check_other(step, tensor, *operand);
            return;
        case MapOp::add_scaled:
            step.written(tensor), step.require(operand && !out, "add_scaled takes an operand and no output");
            if (epsilon) step.with_role(*epsilon, {Role::bias}), step.shaped(*epsilon, 1, 1);
            return check_other(step, tensor, *operand);
        case MapOp::copy:
            only_out("copy takes an output and no operand");
            step.written(*out);
            return check_other(step, tensor, *out);
        case MapOp::dot:
            step.require(operand && out, "dot takes an operand and an output");
            step.typed(*out, DType::f32), step.written(*out), step.shaped(*out, 1, 1);
            step.in_layout(*out, layout_partial());
            step.require(step.placed(tensor, layout_r()) || step.placed(tensor, layout_c()),
                         "replicated rows would count twice");
            return check_other(step, tensor, *operand);
    }
}

RankWork MapStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    ElementwiseKind stream = ElementwiseKind::copy;
    switch (op) {
        case MapOp::activate: stream = dropout ? ElementwiseKind::activate_dropout : ElementwiseKind::activate; break;
        case MapOp::dropout: stream = ElementwiseKind::dropout; break;
        case MapOp::positive_mask: stream = ElementwiseKind::positive_mask; break;
        case MapOp::apply_mask: stream = ElementwiseKind::apply_mask; break;
        case MapOp::column_sum: stream = ElementwiseKind::column_sum; break;
        case MapOp::activation_gradient:
            if (dropout) stream = ElementwiseKind::activate_dropout;
            break;
        case MapOp::add:
        case MapOp::divide:
        case MapOp::add_scaled:
        case MapOp::copy:
        case MapOp::dot: break;  // read and written in order, as what is copied
    }
    return streamed(schedule, *this, rank, stream);
}

}  // namespace gnnplan
