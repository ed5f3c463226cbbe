#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/ir/steps/batch_norm.hpp>

#include <array>

namespace gnnplan {
namespace {

struct Counts {
    std::size_t in, out;
    bool gradient = false;
    std::size_t running = 0;

    bool operator==(const Counts&) const = default;
};
Counts counts_of(BatchNormOp op) {
    switch (op) {
        case BatchNormOp::moments: return {1, 1};
        case BatchNormOp::finish: return {1, 2, false, 2};
        case BatchNormOp::known: return {2, 2};
        case BatchNormOp::scale: return {5, 1};
        case BatchNormOp::sums: return {4, 2};
        case BatchNormOp::back: return {6, 0, true};
    }
    return {};
}

class BatchNormCheck {
public:
    BatchNormCheck(const StepCheck& step, const BatchNormStep& norm)
        : step_(step), norm_(norm), subject_(step.at(norm.in.front())), width_(subject_.columns) {}

    void sums(TensorId id) const {
        step_.typed(id, DType::f64), step_.with_role(id, {Role::transient}), step_.shaped(id, 2, width_);
        step_.require(step_.sum_placed(id, layout_replicated()), "an operand is in the wrong layout");
    }
    // Means and inverse deviations of all columns, from `first` on.
    void made(const std::vector<TensorId>& ids, std::size_t first) const {
        for (std::size_t i = first; i < first + 2; ++i) {
            step_.typed(ids[i], DType::f32), step_.with_role(ids[i], {Role::transient});
            step_.shaped(ids[i], 1, width_), step_.in_layout(ids[i], layout_replicated());
        }
    }
    void parameter(TensorId id) const { step_.with_role(id, {Role::bias}), step_.shaped(id, 1, width_); }
    // The operand's layout has to count each row once.
    void rows() const {
        step_.dense(norm_.in.front());
        step_.require(step_.placed(norm_.in.front(), layout_r()) || step_.placed(norm_.in.front(), layout_c()),
                      "replicated rows would count twice");
    }
    void like_z(TensorId id) const {
        step_.dense(id), step_.distinct(id, norm_.in.front()), step_.same_shape(id, norm_.in.front());
        step_.in_layout(id, subject_.layout);
    }
    void gradient_of_parameter(TensorId id, bool complete) const {
        step_.typed(id, DType::f32), step_.with_role(id, {Role::transient}), step_.shaped(id, 1, width_);
        complete ? step_.require(step_.sum_placed(id, layout_replicated()), "an operand is in the wrong layout")
                 : step_.in_layout(id, layout_partial());
    }

private:
    const StepCheck& step_;
    const BatchNormStep& norm_;
    const Tensor& subject_;
    std::int64_t width_;
};

}  // namespace

void BatchNormStep::check(const StepCheck& step) const {
    const Counts found{in.size(), out.size(), gradient.has_value(), running.size()};
    step.require(found == counts_of(op), "the operation has another number of operands and results");
    const BatchNormCheck check(step, *this);
    switch (op) {
        case BatchNormOp::moments: check.rows(), check.sums(out[0]); return step.in_layout(out[0], layout_partial());
        case BatchNormOp::finish:
            step.require(rows > 0, "there are no rows that the sums are of");
            check.sums(in[0]), check.made(out, 0);
            return check.parameter(running[0]), check.parameter(running[1]);
        case BatchNormOp::known: return check.parameter(in[0]), check.parameter(in[1]), check.made(out, 0);
        case BatchNormOp::scale:
            step.dense(in[0]), check.made(in, 1), check.parameter(in[3]), check.parameter(in[4]);
            return check.like_z(out[0]), step.written(out[0]);
        case BatchNormOp::sums:
            check.rows(), check.made(in, 1), check.like_z(in[3]);
            return check.gradient_of_parameter(out[0], false), check.gradient_of_parameter(out[1], false);
        case BatchNormOp::back:
            step.dense(in[0]), check.made(in, 1), check.parameter(in[3]);
            check.gradient_of_parameter(in[4], true), check.gradient_of_parameter(in[5], true);
            return check.like_z(*gradient), step.written(*gradient);
    }
}

RankWork BatchNormStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    ElementwiseKind stream = ElementwiseKind::copy;
    switch (op) {
        case BatchNormOp::moments: stream = ElementwiseKind::norm_moments; break;
        case BatchNormOp::scale: stream = ElementwiseKind::norm_scale; break;
        case BatchNormOp::sums: stream = ElementwiseKind::norm_sums; break;
        case BatchNormOp::back: stream = ElementwiseKind::norm_back; break;
        case BatchNormOp::finish:
        case BatchNormOp::known: break;  // as short as a row
    }
    return streamed(schedule, *this, rank, stream);
}

}  // namespace gnnplan
