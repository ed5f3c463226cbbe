#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// The operations of attention head by head. A wide matrix has some columns for each head, and one by heads has one
// column for each (spmm.hpp).
enum class HeadOp : std::uint8_t {
    dot,     // in: x, y; out by heads = the sums of x * y over the columns of each head; of x * x as kernels::SquareSum
    spread,  // in: s by heads, p; in place: out = out + s * p, each column with the number of its head
    fold,    // in: x, s by heads; out = the sums over rows of x * s, of the shape of a parameter: a partial sum
    mean,    // in: x; out = the mean over its heads
    share,   // in: g; out = g / heads for every head: what goes back from the mean
    unit,    // in: x, what dot makes of x and x; out = x / |x|, 0 where |x| is 0
    // The gradient of unit reads g, the gradient of u = x / |x|, u, inner by heads = <g, u>, squares; in place,
    // out = out + (g - inner * u) / |x|, unchanged where |x| is 0.
    unit_back,
};

// An operation head by head on local blocks. y and p are wide too, or parameters with a row for each head.
struct HeadStep {
    HeadOp op;
    int heads;
    std::vector<TensorId> in;
    TensorId out;

    static constexpr std::string_view kind = "head";
    static constexpr bool local = true;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("op", self.op);
        archive.value("heads", self.heads);
        archive.reads("in", self.in);
        self.in_place() ? archive.updates("out", self.out) : archive.writes("out", self.out);
    }
    TensorId subject() const { return out; }
    bool in_place() const { return op == HeadOp::spread || op == HeadOp::unit_back; }
    void check(const StepCheck& step) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
