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

// A float for each column, or one for all, of which every rank has a summand: of rows that count once.
void check_summand(const StepCheck& step, const MapStep& map, std::int64_t columns) {
    step.typed(*map.out, DType::f32), step.written(*map.out), step.shaped(*map.out, 1, columns);
    step.require(step.placed(map.tensor, layout_r()) || step.placed(map.tensor, layout_c()),
                 "replicated rows would count twice");
    step.in_layout(*map.out, layout_partial());
}

void check_activate(const StepCheck& step, const MapStep& map) {
    if (map.operand)
        step.with_role(*map.operand, {Role::bias}), step.shaped(*map.operand, 1, step.at(map.tensor).columns);
    if (map.out) check_mask(step, map.tensor, *map.out);
}

void check_in_place(const StepCheck& step, const MapStep& map) {
    step.written(map.tensor);
    const auto only_operand = [&](const char* message) { step.require(map.operand && !map.out, message); };
    switch (map.op) {
        case MapOp::activate: return check_activate(step, map);
        case MapOp::apply_mask:
            only_operand("apply_mask takes an operand and no output");
            step.typed(*map.operand, DType::bits), step.same_shape(map.tensor, *map.operand);
            return step.in_layout(*map.operand, step.at(map.tensor).layout);
        case MapOp::activation_gradient:
            step.require(map.operand.has_value() == (map.activation != Activation::none) && !map.out,
                         "the gradient of an activation takes what that has made and no output");
            if (map.operand) check_other(step, map.tensor, *map.operand);
            return;
        case MapOp::add_scaled:
            only_operand("add_scaled takes an operand and no output");
            if (map.epsilon) step.with_role(*map.epsilon, {Role::bias}), step.shaped(*map.epsilon, 1, 1);
            return check_other(step, map.tensor, *map.operand);
        case MapOp::blend:
            only_operand("blend takes an operand and no output");
            step.require(map.scale >= 0 && map.scale <= 1, "blend takes a share from 0 to 1");
            return check_other(step, map.tensor, *map.operand);
        case MapOp::scaled: return step.require(!map.operand, "scaled takes no operand");
        case MapOp::add_identity:
            step.require(!map.operand && !map.out, "add_identity takes neither operand nor output");
            step.shaped(map.tensor, step.at(map.tensor).columns, step.at(map.tensor).columns);
            return step.in_layout(map.tensor, layout_replicated());
        default:  // add, divide
            only_operand("add and divide take an operand and no output");
            return check_other(step, map.tensor, *map.operand);
    }
}

void check_made(const StepCheck& step, const MapStep& map) {
    const auto only_out = [&](const char* message) { step.require(!map.operand && map.out, message); };
    switch (map.op) {
        case MapOp::dropout:
            only_out("dropout takes an output and no operand");
            step.with_role(map.tensor, {Role::features});
            step.dense(*map.out), step.written(*map.out), step.same_shape(map.tensor, *map.out);
            return step.in_layout(*map.out, step.at(map.tensor).layout);
        case MapOp::positive_mask:
            only_out("positive_mask takes an output and no operand");
            return check_mask(step, map.tensor, *map.out);
        case MapOp::column_sum:
            only_out("column_sum takes an output and no operand");
            return check_summand(step, map, step.at(map.tensor).columns);
        case MapOp::dot:
            step.require(map.operand && map.out, "dot takes an operand and an output");
            check_summand(step, map, 1);
            return check_other(step, map.tensor, *map.operand);
        case MapOp::difference:
            only_out("difference takes an output and no operand");
            step.require(step.at(map.tensor).columns == 2, "a difference is of two columns");
            step.dense(*map.out), step.written(*map.out), step.shaped(*map.out, step.at(map.tensor).rows, 1);
            step.require(step.at(*map.out).space == step.at(map.tensor).space, "operands are about different rows");
            return step.in_layout(map.tensor, layout_r()), step.in_layout(*map.out, layout_r());
        case MapOp::scaled:
            only_out("scaled takes no operand");
            step.written(*map.out);
            return check_other(step, map.tensor, *map.out);
        default:  // copy
            only_out("copy takes an output and no operand");
            step.written(*map.out);
            return check_other(step, map.tensor, *map.out);
    }
}

}  // namespace

void MapStep::check(const StepCheck& step) const {
    if (op == MapOp::scaled) {
        // A sum of summands is in place still.
        step.typed(tensor, DType::f32);
        in_place() ? step.written(tensor) : step.with_role(tensor, {Role::transient, Role::cached, Role::weight});
    } else {
        step.dense(tensor);
    }
    if (vertices) check_vertices(step, *this);
    in_place() ? check_in_place(step, *this) : check_made(step, *this);
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
        case MapOp::blend:
        case MapOp::scaled:
        case MapOp::add_identity:
        case MapOp::copy:
        case MapOp::dot:
        case MapOp::difference: break;  // read and written in order, as what is copied
    }
    RankWork work = streamed(schedule, *this, rank, stream);
    work.in_cache = done_before;
    return work;
}

}  // namespace gnnplan
