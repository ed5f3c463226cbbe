#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// Whether a product can pack panels, with these switches.
constexpr bool packs_panels(Exchange exchange, bool overlap) { return !overlap && exchange != Exchange::rows; }

// What a product makes of its operands at the nonzeros of its matrix. Below, v is a row of the matrix, u a column in
// which it has a nonzero, and all is elementwise.
enum class Program : std::uint8_t {
    sum,  // column operand: in; result: out. out_v = the sum of M(v, u) in_u.
    // Column operand: in; results: maxima and ties. maxima_v = the largest in_u, ties_v = how many of them equal it, as
    // floats; both are 0 in rows without nonzeros. The values of the matrix are not read.
    max,
    // Makes the gradient of `in` from that of `maxima`, shared evenly among ties; the matrix is the transpose of max's.
    // Column operands: share, which is the gradient of maxima divided by ties (MapOp::divide), and maxima; row operand:
    // in; result: the gradient of in. gradient_v = the sum of share_u where in_v equals maxima_u. The values of the
    // matrix are not read.
    max_back,
};

// How many operands and results a program has.
struct ProgramOperands {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::size_t results = 0;
};
constexpr ProgramOperands operand_counts(Program program) {
    switch (program) {
        case Program::sum: return {1, 0, 1};
        case Program::max: return {1, 0, 2};
        case Program::max_back: return {2, 1, 1};
    }
    return {};
}

// A generalised product of a sparse matrix: one pass over the nonzeros of a rank's rows. `matrix` has its rows over x
// and its contraction side over z, over z and y, or over y (pieces.hpp).
//
// Rows of column operands meet columns of the matrix. They are in C, or in F when the contraction side is over y. The
// rows that other ranks hold come piece by piece, of each operand in a message of its own; with `overlap` the next piece
// is on its way while one is multiplied. Rows of row operands and results are rows of the matrix, over x: they stay. A
// sum is partial over the axes that split the contraction side; other programs want all of it on every rank. All dense
// operands have equally many columns.
//
// With `bf16` the rows that a panel meets are kept in cache as bfloat16, to which they are rounded: in sums only, not
// with overlap, nor with needed rows, where nothing is packed.
struct SpmmStep {
    TensorId matrix;
    std::vector<TensorId> column_operands;
    std::vector<TensorId> results;
    Exchange exchange;
    bool overlap;
    bool bf16 = false;
    Program program = Program::sum;
    std::vector<TensorId> row_operands = {};

    static constexpr std::string_view kind = "spmm";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("matrix", self.matrix);
        archive.optional("program", self.program);
        if (self.program == Program::sum) {
            archive.reads("in", only(self.column_operands));
            archive.writes("out", only(self.results));
        } else {
            archive.reads("column_operands", self.column_operands);
            archive.reads("row_operands", self.row_operands);
            archive.writes("results", self.results);
        }
        archive.value("exchange", self.exchange);
        archive.value("overlap", self.overlap);
        archive.optional("bf16", self.bf16);
    }
    TensorId subject() const { return results.front(); }
    // Columns of all column operands together in the blocks of `rank`: of what travels.
    std::int64_t travelling_columns(const Schedule& schedule, int rank) const;
    // Whether it packs panels in which its operand may be rounded to bf16.
    bool can_round() const { return program == Program::sum && packs_panels(exchange, overlap); }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool depends_on_graph(const Schedule& schedule) const;

private:
    // The one operand of a list; a list that is being read gets it.
    static TensorId& only(std::vector<TensorId>& ids) {
        ids.resize(1);
        return ids.front();
    }
    static const TensorId& only(const std::vector<TensorId>& ids) {
        ensure(ids.size() == 1, "a sum has one column operand and one result");
        return ids.front();
    }
};

}  // namespace gnnplan
