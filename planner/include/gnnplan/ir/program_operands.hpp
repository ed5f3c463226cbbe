// The operands and results of each program (program.hpp) by name. In which order a step, and a plan file, lists them is
// said here and nowhere else.
//
// `In` stands for an operand and `Out` for a result: the ids of tensors, or matrices. fields() shows a list the members
// in order, each with its kind, as a column operand, a row operand or a result. Members that are empty are in no list;
// expect() says which of them a step has.
#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gnnplan {

// A matrix as wide as the others, one with a column for each head, such a one that may be a sum over y, the vertices
// that rows stand for, values of the nonzeros, or such values by heads.
enum class OperandKind : std::uint8_t { wide, by_heads, summand_by_heads, vertices, edges, edges_by_heads };

// Further operands of programs of attention. Matrices by heads have a column for each head: split over y, as wide ones
// are, where that gives every rank whole heads, else whole on every rank of a y-group. There `inner` and the gradient
// of s are sums over y, of which each rank has what its columns make.
struct Attending {
    int heads = 0;
    double slope = 0;
    int layer = 0;         // whose draws decide which weights are dropped
    bool dropout = false;  // whether weights may be: then rows say which vertices they are of
    bool stored = false;   // before and in a backward pass: scores, and what is dropped, are values of the nonzeros
};

template <class In, class Out = In>
struct SumOperands {
    static constexpr Program program = Program::sum;
    In in;
    Out out;

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.in);
        list.result(OperandKind::wide, self.out);
    }
};

template <class In, class Out = In>
struct MaxOperands {
    static constexpr Program program = Program::max;
    In in;
    Out maxima, ties;

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.in);
        list.result(OperandKind::wide, self.maxima);
        list.result(OperandKind::wide, self.ties);
    }
};

template <class In, class Out = In>
struct MaxBackOperands {
    static constexpr Program program = Program::max_back;
    In share, maxima, in;
    Out gradient;

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.share);
        list.column(OperandKind::wide, self.maxima);
        list.row(OperandKind::wide, self.in);
        list.result(OperandKind::wide, self.gradient);
    }
};

template <class In, class Out = In>
struct AttendOperands {
    static constexpr Program program = Program::attend;
    In h, source, target;
    std::optional<In> column_vertices = {}, row_vertices = {};  // where weights may be dropped
    Out sums, log_total, total;
    std::optional<Out> by_target = {}, negative_share = {};  // before a backward pass
    std::optional<Out> scores = {};                          // where they are stored

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.h);
        list.column(OperandKind::by_heads, self.source);
        list.column(OperandKind::vertices, self.column_vertices);
        list.row(OperandKind::by_heads, self.target);
        list.row(OperandKind::vertices, self.row_vertices);
        list.result(OperandKind::wide, self.sums);
        list.result(OperandKind::by_heads, self.log_total);
        list.result(OperandKind::by_heads, self.total);
        list.result(OperandKind::wide, self.by_target);
        list.result(OperandKind::by_heads, self.negative_share);
        list.result(OperandKind::edges_by_heads, self.scores);
    }
    // An evaluation has as many results as there are without those that a backward pass reads.
    void expect(const Attending& how, bool evaluation) {
        if (how.dropout) column_vertices.emplace(), row_vertices.emplace();
        if (how.stored || !evaluation) by_target.emplace(), negative_share.emplace();
        if (how.stored) scores.emplace();
    }
};

// With stored scores, target, source and vertices are not read: the dropped weights are stored, too.
template <class In, class Out = In>
struct AttendBackOperands {
    static constexpr Program program = Program::attend_back;
    In gradient;
    std::optional<In> target = {};
    In log_total, inner;
    In h;
    std::optional<In> source = {}, scores = {};
    std::optional<In> column_vertices = {}, row_vertices = {};
    Out of_h, of_source;

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.gradient);
        list.column(OperandKind::by_heads, self.target);
        list.column(OperandKind::by_heads, self.log_total);
        list.column(OperandKind::summand_by_heads, self.inner);
        list.column(OperandKind::vertices, self.column_vertices);
        list.row(OperandKind::wide, self.h);
        list.row(OperandKind::by_heads, self.source);
        list.row(OperandKind::edges_by_heads, self.scores);
        list.row(OperandKind::vertices, self.row_vertices);
        list.result(OperandKind::wide, self.of_h);
        list.result(OperandKind::summand_by_heads, self.of_source);
    }
    void expect(const Attending& how, bool /*evaluation*/) {
        if (how.stored) {
            scores.emplace();
        } else {
            target.emplace(), source.emplace();
            if (how.dropout) column_vertices.emplace(), row_vertices.emplace();
        }
    }
};

template <class In, class Out = In>
struct DotOperands {
    static constexpr Program program = Program::dot;
    In x, y;
    Out products;

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.x);
        list.row(OperandKind::wide, self.y);
        list.result(OperandKind::edges, self.products);
    }
};

template <class In, class Out = In>
struct EdgeSumOperands {
    static constexpr Program program = Program::edge_sum;
    In in, values;
    Out out;

    template <class Self, class List>
    static void fields(Self& self, List& list) {
        list.column(OperandKind::wide, self.in);
        list.row(OperandKind::edges, self.values);
        list.result(OperandKind::wide, self.out);
    }
};

// The members of a struct from lists that are as long as it says (SpmmStep::check).
template <class Columns, class Rows, class Results>
class OperandReader {
public:
    OperandReader(const Columns& columns, const Rows& rows, const Results& results)
        : columns_(columns), rows_(rows), results_(results) {}

    template <class T>
    void column(OperandKind, T& member) {
        take(columns_, next_column_, member);
    }
    template <class T>
    void row(OperandKind, T& member) {
        take(rows_, next_row_, member);
    }
    template <class T>
    void result(OperandKind, T& member) {
        take(results_, next_result_, member);
    }

private:
    template <class List, class T>
    static void take(const List& list, std::size_t& next, T& member) {
        ensure(next < list.size(), "a program has fewer operands than it reads");
        member = list[next++];
    }
    template <class List, class T>
    static void take(const List& list, std::size_t& next, std::optional<T>& member) {
        if (member) take(list, next, *member);
    }

    const Columns& columns_;
    const Rows& rows_;
    const Results& results_;
    std::size_t next_column_ = 0, next_row_ = 0, next_result_ = 0;
};

}  // namespace gnnplan
