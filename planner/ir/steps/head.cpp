#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/ir/steps/spmm.hpp>

namespace gnnplan {
namespace {

class HeadCheck {
public:
    HeadCheck(const StepCheck& step, const HeadStep& head, TensorId wide)
        : step_(step), heads_(head.heads), wide_(step.at(wide)) {
        step.typed(wide, DType::f32);
        step.require(heads_ > 0 && wide_.columns % heads_ == 0, "its heads do not share the columns");
    }

    // Where matrices by heads are that go with the wide one: split as it is, unless its columns are cut within heads.
    Layout by_heads() const {
        const bool cut = !wide_.layout.columns.empty() && cuts_heads(step_.grid(), heads_);
        return {wide_.layout.rows, cut ? Axes() : wide_.layout.columns, {}};
    }
    bool cut() const { return !wide_.layout.columns.empty() && cuts_heads(step_.grid(), heads_); }

    // A number for each row and head. Where it was a partial sum over ranks, every rank has the whole sum now.
    void scales(TensorId id) const {
        step_.typed(id, DType::f32), step_.with_role(id, {Role::transient});
        step_.require(step_.sum_placed(id, by_heads()), "an operand is in the wrong layout");
        shaped(id, heads_);
    }
    void parameter(TensorId id) const {
        step_.with_role(id, {Role::weight}), step_.shaped(id, heads_, wide_.columns / heads_);
    }
    void shaped(TensorId id, std::int64_t columns) const {
        step_.shaped(id, wide_.rows, columns);
        step_.require(step_.at(id).space == wide_.space, "operands are about different rows");
    }

private:
    const StepCheck& step_;
    std::int64_t heads_;
    const Tensor& wide_;
};

void check_dot(const StepCheck& step, const HeadStep& head) {
    const HeadCheck check(step, head, head.in[0]);
    step.dense(head.in[0]);
    if (step.at(head.in[1]).role == Role::weight) {
        check.parameter(head.in[1]);
    } else {
        step.dense(head.in[1]), step.same_shape(head.in[0], head.in[1]);
        step.in_layout(head.in[1], step.at(head.in[0]).layout);
    }
    step.typed(head.out, DType::f32), step.written(head.out), check.shaped(head.out, head.heads);
    Layout layout = check.by_heads();
    if (check.cut()) layout.partial = step.at(head.in[0]).layout.columns;
    step.in_layout(head.out, layout);
}

// The mean of `wide`, or what is shared among its heads.
void check_narrow(const StepCheck& step, const HeadStep& head, TensorId wide, TensorId narrow) {
    const HeadCheck check(step, head, wide);
    step.dense(head.in[0]), step.typed(head.out, DType::f32), step.written(head.out), step.distinct(wide, narrow);
    check.shaped(narrow, step.at(wide).columns / head.heads);
    step.require(step.placed(wide, layout_r()), "whole rows are needed for all heads of a row");
    step.in_layout(narrow, layout_r());
}

// x and what it becomes, and the squares of its heads' lengths.
void check_unit(const StepCheck& step, const HeadStep& head) {
    const HeadCheck check(step, head, head.out);
    const bool back = head.op == HeadOp::unit_back;
    for (std::size_t i = 0; i < (back ? 2U : 1U); ++i) {
        step.dense(head.in[i]), step.same_shape(head.in[i], head.out), step.distinct(head.in[i], head.out);
        step.in_layout(head.in[i], step.at(head.out).layout);
    }
    for (std::size_t i = back ? 2 : 1; i < head.in.size(); ++i) check.scales(head.in[i]);
    step.dense(head.out), step.written(head.out);
}

std::size_t operands_of(HeadOp op) {
    switch (op) {
        case HeadOp::dot:
        case HeadOp::spread:
        case HeadOp::fold:
        case HeadOp::unit: return 2;
        case HeadOp::unit_back: return 4;
        case HeadOp::mean:
        case HeadOp::share: break;
    }
    return 1;
}

ElementwiseKind stream_of(HeadOp op) {
    switch (op) {
        case HeadOp::dot: return ElementwiseKind::head_dot;
        case HeadOp::spread: return ElementwiseKind::head_spread;
        case HeadOp::fold: return ElementwiseKind::head_fold;
        case HeadOp::unit: return ElementwiseKind::head_unit;
        case HeadOp::unit_back: return ElementwiseKind::head_unit_back;
        case HeadOp::mean:
        case HeadOp::share: break;
    }
    return ElementwiseKind::copy;
}

}  // namespace

void HeadStep::check(const StepCheck& step) const {
    step.require(in.size() == operands_of(op), "the operation has another number of operands");
    switch (op) {
        case HeadOp::dot: return check_dot(step, *this);
        case HeadOp::spread: {
            const HeadCheck check(step, *this, out);
            step.written(out), check.scales(in[0]);
            return check.parameter(in[1]);
        }
        case HeadOp::fold: {
            const HeadCheck check(step, *this, in[0]);
            step.dense(in[0]), check.scales(in[1]);
            step.require(step.placed(in[0], layout_r()) || step.placed(in[0], layout_c()),
                         "replicated rows would count twice");
            step.typed(out, DType::f32), step.written(out), step.shaped(out, heads, step.at(in[0]).columns / heads);
            return step.in_layout(out, layout_partial());
        }
        case HeadOp::mean: return check_narrow(step, *this, in[0], out);
        case HeadOp::share: return check_narrow(step, *this, out, in[0]);
        case HeadOp::unit:
        case HeadOp::unit_back: return check_unit(step, *this);
    }
}

RankWork HeadStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, stream_of(op));
}

}  // namespace gnnplan
