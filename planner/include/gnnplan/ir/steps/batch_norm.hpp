#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// Batch normalisation (Ioffe & Szegedy 2015, algorithm 1) of the columns of z, which has N rows over all ranks: with
// the mean m and the variance v of a column, and x = (z - m) / sqrt(v + kernels::norm_epsilon), it makes x * weight +
// bias. Sums over rows are doubles: a variance is a difference of two of them.
enum class BatchNormOp : std::uint8_t {
    moments,  // in: z; out: the sums of z and of z^2, as far as the local rows add to them: [2, f]
    finish,   // in: those sums, of `rows` rows; out: m, and 1 / sqrt(v + ...); `running` moves towards m and v
    known,    // in: running mean and variance; out: as finish
    scale,    // in: z, what finish makes, weight, bias; out: the result
    sums,     // in: z, what finish makes, g; out: the gradients of weight and bias, the sums of g x and of g: partial
    back,     // in: z, what finish makes, weight, those sums; in place: g becomes the gradient of z
};

struct BatchNormStep {
    BatchNormOp op;
    std::vector<TensorId> in;
    std::vector<TensorId> out;
    std::optional<TensorId> gradient = {};
    std::vector<TensorId> running = {};  // mean and variance, which training keeps for those who do not train
    std::int64_t rows = 0;

    static constexpr std::string_view kind = "batch_norm";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("op", self.op);
        archive.reads("in", self.in);
        archive.writes("out", self.out);
        if (self.op == BatchNormOp::back) archive.updates("gradient", self.gradient);
        if (self.op != BatchNormOp::finish) return;
        archive.updates("running", self.running);
        archive.value("rows", self.rows);
    }
    TensorId subject() const { return in.front(); }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
