#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/ir/steps/edge.hpp>

namespace gnnplan {
namespace {

class EdgeCheck {
public:
    EdgeCheck(const StepCheck& step, const EdgeStep& edge) : step_(step), edge_(edge) {
        step.with_role(edge.matrix, {Role::adjacency});
    }

    void edges(TensorId id) const { step_.edges(id, edge_.matrix, {}); }
    void beta(TensorId id) const { step_.with_role(id, {Role::weight, Role::bias}), step_.shaped(id, 1, 1); }
    void by_rows(TensorId id) const {
        const Tensor& matrix = step_.at(edge_.matrix);
        step_.typed(id, DType::f32), step_.written(id), step_.shaped(id, matrix.rows, 1);
        step_.require(step_.sum_placed(id, {Axes::parse("x"), {}, {}}), "an operand is in the wrong layout");
        step_.require(step_.at(id).space == matrix.space, "operands are about different rows");
    }
    void counts(std::size_t in, std::size_t out) const {
        step_.require(edge_.in.size() == in && edge_.out.size() == out,
                      "the operation has another number of operands and results");
    }

private:
    const StepCheck& step_;
    const EdgeStep& edge_;
};

}  // namespace

void EdgeStep::check(const StepCheck& step) const {
    const EdgeCheck check(step, *this);
    switch (op) {
        case EdgeOp::softmax:
            check.counts(2, 3);
            check.edges(in[0]), check.beta(in[1]), check.edges(out[0]), check.by_rows(out[1]), check.by_rows(out[2]);
            return step.distinct(in[0], out[0]);
        case EdgeOp::softmax_back:
            check.counts(4, 1);
            step.require(gradient.has_value(), "there is no gradient to go back");
            check.edges(in[0]), check.edges(in[1]), check.by_rows(in[2]), check.beta(in[3]), check.edges(*gradient);
            return check.by_rows(out[0]);
    }
}

RankWork EdgeStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const bool forward = op == EdgeOp::softmax;
    return streamed(schedule, *this, rank, forward ? ElementwiseKind::edge_softmax : ElementwiseKind::edge_softmax_back,
                    {}, &graph);
}

}  // namespace gnnplan
