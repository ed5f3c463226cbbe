#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// Operations on values of the nonzeros of a matrix, row by row. Below, v is a row and u a column in which it has a
// nonzero.
enum class EdgeOp : std::uint8_t {
    // In: scores e, beta; out: weights = the softmax over u of beta e(v, u), and by rows the largest beta e and the sum
    // of exp(beta e - largest); 0 of rows without nonzeros.
    softmax,
    // The gradients of softmax. In: e, weights, inner by rows = the sum over u of weights times their gradient, beta;
    // in place: gradient, of the weights, becomes that of e; out by rows: the gradient of beta.
    softmax_back,
};

// Every rank has whole rows: values are where the matrix is, beta is a parameter of one element, and what is by rows
// has a column and lies with the rows of the matrix.
struct EdgeStep {
    EdgeOp op;
    TensorId matrix;
    std::vector<TensorId> in;
    std::optional<TensorId> gradient;
    std::vector<TensorId> out;

    static constexpr std::string_view kind = "edge";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("op", self.op);
        archive.reads("matrix", self.matrix);
        archive.reads("in", self.in);
        if (self.op == EdgeOp::softmax_back) archive.updates("gradient", self.gradient);
        archive.writes("out", self.out);
    }
    TensorId subject() const { return in.front(); }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
