#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/steps/step.hpp>

namespace gnnplan {

// out = M in. `matrix` has its rows over x and its contraction side over z, over z and y, or over y (pieces.hpp). `in`
// is in C, or in F when the contraction side is over y; `out` has its rows over x and is partial over the axes that
// split the contraction side. The rows of `in` that other ranks hold come piece by piece; with `overlap` the next piece
// is on its way while one is multiplied. With `bf16` the rows that a panel meets are kept in cache as bfloat16, to
// which they are rounded: not with overlap, nor with needed rows, where nothing is packed.
struct SpmmStep {
    TensorId matrix, in, out;
    Exchange exchange;
    bool overlap;
    bool bf16 = false;

    static constexpr std::string_view kind = "spmm";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("matrix", self.matrix);
        archive.reads("in", self.in);
        archive.writes("out", self.out);
        archive.value("exchange", self.exchange);
        archive.value("overlap", self.overlap);
        archive.optional("bf16", self.bf16);
    }
    TensorId subject() const { return out; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool depends_on_graph(const Schedule& schedule) const;
};

// Whether a product can pack panels, with these switches.
constexpr bool packs_panels(Exchange exchange, bool overlap) { return !overlap && exchange != Exchange::rows; }

}  // namespace gnnplan
