#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/ir/steps/norm.hpp>

namespace gnnplan {
namespace {

class NormCheck {
public:
    NormCheck(const StepCheck& step, const NormStep& norm) : step_(step), norm_(norm), z_(step.at(norm.in.front())) {
        step.dense(norm.in.front());
    }

    void counts(std::size_t in, std::size_t out) const {
        step_.require(
            norm_.in.size() == in && norm_.out.size() == out && norm_.gradient.has_value() == norm_.goes_back(),
            "the operation has another number of operands and results");
    }
    // A few numbers for each row; with `partial` the local columns' part of them.
    void by_rows(TensorId id, std::int64_t columns, bool partial = false) const {
        step_.typed(id, DType::f32), step_.with_role(id, {Role::transient}), step_.shaped(id, z_.rows, columns);
        step_.require(step_.at(id).space == z_.space, "operands are about different rows");
        const Layout whole{z_.layout.rows, {}, {}};
        if (partial) return step_.in_layout(id, {z_.layout.rows, {}, z_.layout.columns});
        step_.require(step_.sum_placed(id, whole), "an operand is in the wrong layout");
    }
    void moments() const { by_rows(norm_.in[1], 1), by_rows(norm_.in[2], 1); }
    void parameter(TensorId id) const { step_.with_role(id, {Role::bias}), step_.shaped(id, 1, z_.columns); }
    void like_z(TensorId id) const {
        step_.dense(id), step_.distinct(id, norm_.in.front()), step_.same_shape(id, norm_.in.front());
        step_.in_layout(id, z_.layout);
    }
    void made(TensorId id) const { like_z(id), step_.written(id); }
    void of_parameters(std::size_t first) const {
        step_.require(step_.placed(norm_.in.front(), layout_r()) || step_.placed(norm_.in.front(), layout_c()),
                      "replicated rows would count twice");
        for (std::size_t i = first; i < first + 2; ++i) {
            step_.typed(norm_.out[i], DType::f32), step_.written(norm_.out[i]);
            step_.shaped(norm_.out[i], 1, z_.columns), step_.in_layout(norm_.out[i], layout_partial());
        }
    }
    void whole_rows() const {
        const Layout whole{z_.layout.rows, {}, {}};
        step_.require(step_.placed(norm_.in.front(), whole), "whole rows are needed for a mean of them");
    }

private:
    const StepCheck& step_;
    const NormStep& norm_;
    const Tensor& z_;
};

}  // namespace

void NormStep::check(const StepCheck& step) const {
    step.require(!in.empty(), "the operation has another number of operands and results");
    const NormCheck check(step, *this);
    switch (op) {
        case NormOp::rows:
            check.counts(3, 3), check.whole_rows(), check.parameter(in[1]), check.parameter(in[2]);
            return check.by_rows(out[0], 1), check.by_rows(out[1], 1), check.made(out[2]);
        case NormOp::mean: return check.counts(1, 1), check.by_rows(out[0], 1, true);
        case NormOp::variance: return check.counts(2, 1), check.by_rows(in[1], 1), check.by_rows(out[0], 1, true);
        case NormOp::scale:
            check.counts(5, 1), check.moments(), check.parameter(in[3]), check.parameter(in[4]);
            return check.made(out[0]);
        case NormOp::rows_back:
            check.counts(4, 2), check.whole_rows(), check.moments(), check.parameter(in[3]);
            return check.made(*gradient), check.of_parameters(0);
        case NormOp::sums:
            check.counts(5, 3), check.moments(), check.parameter(in[3]), check.like_z(in[4]);
            return check.by_rows(out[0], 2, true), check.of_parameters(1);
        case NormOp::back:
            check.counts(5, 0), check.moments(), check.parameter(in[3]), check.by_rows(in[4], 2);
            return check.made(*gradient);
    }
}

RankWork NormStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    // Parts of a row, which ranks add up, take the rate of whole ones.
    return streamed(schedule, *this, rank, goes_back() ? ElementwiseKind::norm_rows_back : ElementwiseKind::norm_rows);
}

}  // namespace gnnplan
