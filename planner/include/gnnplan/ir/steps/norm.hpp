#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// Layer normalisation (Ba et al. 2016, eq. 3) of the rows of z, which have f columns: with the mean m and the variance
// v of a row, and x = (z - m) / sqrt(v + kernels::norm_epsilon), it makes x * weight + bias. Where a rank has whole
// rows, each pass is one operation; where it has some columns of them, sums over ranks stand between three and two.
enum class NormOp : std::uint8_t {
    rows,       // in: z, weight, bias; out: m, v, and the result, of whole rows
    mean,       // in: z; out: m, as far as the local columns add to it
    variance,   // in: z, m; out: v, likewise
    scale,      // in: z, m, v, weight, bias; out: the result
    rows_back,  // in: z, m, v, weight; in place: g becomes the gradient of z; out: those of weight and bias
    sums,       // in: z, m, v, weight, g; out: by rows the means over f of g weight and of g weight x; and as rows_back
    back,       // in: z, m, v, weight, those means; in place: g becomes the gradient of z
};

// Operands by rows lie with the rows of z. Gradients of parameters are partial sums.
struct NormStep {
    NormOp op;
    std::vector<TensorId> in;
    std::optional<TensorId> gradient;
    std::vector<TensorId> out;

    static constexpr std::string_view kind = "norm";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("op", self.op);
        archive.reads("in", self.in);
        if (self.goes_back()) archive.updates("gradient", self.gradient);
        archive.writes("out", self.out);
    }
    bool goes_back() const { return op == NormOp::rows_back || op == NormOp::back; }
    TensorId subject() const { return in.front(); }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
