#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/program_operands.hpp>
#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// Whether a split over y would cut heads.
constexpr bool cuts_heads(const Grid& grid, std::int64_t heads) { return heads % grid.y != 0; }

// The kinds of what a program takes and makes, in the order of a step's lists.
struct OperandKinds {
    std::vector<OperandKind> columns, rows, results;
};

// A generalised product of a sparse matrix: one pass over the nonzeros of a rank's rows. `matrix` has its rows over x
// and its contraction side over z, over z and y, or over y; or it has its rows over all ranks (pieces.hpp).
//
// Rows of column operands meet columns of the matrix. They are in C, in F when the contraction side is over y, and in R
// when rows are over all ranks. The rows that other ranks hold come piece by piece, of each operand in a message of its
// own; with `overlap` the next piece is on its way while one is multiplied. Rows of row operands and results are rows
// of the matrix, where it has them: they stay. A sum is partial over the axes that split the contraction side; other
// programs want all of it on every rank. Wide operands and results have equally many columns.
//
// In bf16 rows that others hold arrive rounded, and become floats piece by piece.
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
    Attending attending = {};
    Wire wire = Wire::fp32;  // of the rows of column operands

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
        if (self.attends()) {
            archive.value("heads", self.attending.heads);
            archive.value("slope", self.attending.slope);
            archive.identity("layer", self.attending.layer);
            archive.value("dropout", self.attending.dropout);
            archive.optional("stored", self.attending.stored);
        }
        archive.value("exchange", self.exchange);
        archive.value("overlap", self.overlap);
        archive.optional("bf16", self.bf16);
        archive.optional("wire", self.wire);
    }
    TensorId subject() const { return results.front(); }
    bool attends() const { return program == Program::attend || program == Program::attend_back; }
    // Exchanges rows as the switches say, overlaps and rounds, where there is something to get, and to round.
    void follow(const Switches& switches, const Grid& grid, const Tensor& of_matrix);
    // Takes a program with its operands and results, as structs of program_operands.hpp have them.
    template <class Operands>
    void set(const Operands& operands) {
        program = Operands::program;
        bf16 = bf16 && can_round();
        column_operands.clear(), row_operands.clear(), results.clear();
        Writer writer{*this};
        Operands::fields(operands, writer);
    }
    // The same struct again, of any lists that are as long as the step's, which were checked.
    template <class Operands, class Columns, class Rows, class Results>
    Operands named(const Columns& columns, const Rows& rows, const Results& made) const {
        Operands operands = expected<Operands>();
        OperandReader reader(columns, rows, made);
        Operands::fields(operands, reader);
        return operands;
    }
    template <class Operands>
    Operands named() const {
        return named<Operands>(column_operands, row_operands, results);
    }
    // The kinds of what the program takes and makes, in the order of the lists.
    OperandKinds kinds() const;
    // `inner`, whose summands are used up where y cuts heads.
    std::optional<TensorId> uses_up(const Schedule& schedule) const;
    // Where scores of attention are stored, the values of the nonzeros that the program makes or reads.
    std::optional<TensorId> stored_scores() const;
    // Heads whose weights a rank finds; 0 of programs without.
    std::int64_t local_heads(const Schedule& schedule, int rank) const;
    // Columns of all column operands together in the blocks of `rank`: of what travels.
    std::int64_t travelling_columns(const Schedule& schedule, int rank) const;
    // Bytes of these columns of a row as it travels.
    std::int64_t travelling_bytes(const Schedule& schedule, int rank) const {
        return wire_bytes(wire, travelling_columns(schedule, rank));
    }
    // Whether it packs panels in which its operand may be rounded to bf16.
    bool can_round() const { return program == Program::sum && packs_panels(exchange, overlap); }
    // Whether its rows may travel in bf16: maxima are found again by equality, and attention weighs by small
    // differences.
    bool can_narrow(const Schedule&) const { return program == Program::sum && exchange != Exchange::none; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool depends_on_graph(const Schedule& schedule) const;

private:
    // Lists the members that are there.
    struct Writer {
        SpmmStep& step;
        void column(OperandKind, TensorId id) { step.column_operands.push_back(id); }
        void row(OperandKind, TensorId id) { step.row_operands.push_back(id); }
        void result(OperandKind, TensorId id) { step.results.push_back(id); }
        void column(OperandKind kind, const std::optional<TensorId>& id) {
            if (id) column(kind, *id);
        }
        void row(OperandKind kind, const std::optional<TensorId>& id) {
            if (id) row(kind, *id);
        }
        void result(OperandKind kind, const std::optional<TensorId>& id) {
            if (id) result(kind, *id);
        }
    };
    // Operands of no value, of which those are there that the step has.
    template <class Operands>
    Operands expected() const {
        Operands operands{};
        if constexpr (requires { operands.expect(attending, true); })
            operands.expect(attending, results.size() == evaluation_results());
        return operands;
    }
    template <class Operands>
    OperandKinds kinds_of() const;
    // How many an attention has that no backward pass follows.
    static std::size_t evaluation_results();
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
