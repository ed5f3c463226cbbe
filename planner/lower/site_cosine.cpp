// Sums weighted by cosines (ir/op_graph.hpp: Reduce::cosine), and their gradients. With u = h / |h|, the edge u -> v
// has the score <u_v, u_u>, made from rows of both ends (SDDMM) and kept as a value of the edge. Its softmax over the
// in-neighbours of v, scaled by beta, is the weight w, and Z = A_w^T h. Backwards, with G the gradient of Z:
//   d w(u, v) = <G_v, h_u>, from which the softmax makes d score(u, v) and d beta
//   d h = A_w G, and d u = A_d h of both ends of d score: rows of v through A_d^T, and rows of u through A_d
// A_w and A_d have their values where A has them, which takes a transposition of values.
#include "planner/lower/heads.hpp"
#include "planner/lower/passes.hpp"

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan::lower {
namespace {

// The forward pass leaves h, u = h / |h| of the rows that the layer reads and of those that it makes, squares of the
// lengths by rows, the sums, and by edges the cosines and weights.
struct Saved {
    TensorId h, unit, unit_of_rows, squares, sums, cosines, weights;
};

class Cosine : SitePass {
public:
    Cosine(Passes& passes, int id) : SitePass(passes, id), heads_(builder_, site_) {}

    void forward() {
        builder_.begin(Pass::forward, l_);
        const std::string at = numbered("forward.", l_), label = std::to_string(l_);
        const TensorId h = passes_.fetch(site_.input, rules_.spmm_in(), at + ".input", OpKind::aggregate);
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        const TensorId squares = inner_product(at + ".squares", h, h, "n" + label);
        const TensorId unit = unit_of(at + ".unit", h, squares, "u" + label);
        const TensorId of_rows = rows(at + ".unit.rows", unit, "u" + label, l_);
        Copies copies;
        copies.add(rules_.spmm_in(), of_rows);
        const TensorId cosines = scores(at + ".scores", unit, copies, "e" + label, "u" + label);
        const TensorId weights = softmax(at + ".softmax", cosines, "w" + label);
        const TensorId sums =
            edge_sum(at + ".spmm", Direction::forward, weights, h, "Z" + label + (changes() ? ".sums" : ""));
        Value& value = passes_.value(id_);
        if (passes_.training) value.saved = Saved{h, unit, of_rows, squares, sums, cosines, weights};
        value.copies.add(rules_.made_in(id_), changes() ? copy(builder_, at + ".copy", sums, "Z" + label) : sums);
    }

    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = numbered("backward.", l_), label = std::to_string(l_);
        Gradient& gradient = passes_.gradient(id_);
        const TensorId g =
            builder_.at(gradient.copies, rules_.spmm_in(), at + ".input", "G" + label, OpKind::aggregate);
        bias_gradient(passes_, gradient);
        const auto& made = std::any_cast<const Saved&>(passes_.value(id_).saved);
        const TensorId inner = inner_product(at + ".inner", g, made.sums, "d" + label + "inner");
        const TensorId of_edges = scores(at + ".weights", made.h, gradient.copies, "de" + label, "dw" + label);
        const TensorId of_beta =
            softmax_back(at + ".softmax", {made.cosines, made.weights, inner, of_edges}, "dbeta" + label);
        if (passes_.model.at(site_.input).kind != SiteKind::input) pass_on(at, made, g, of_edges);
        update_beta(at + ".beta", of_beta);
    }

private:
    // Whether somebody changes the sums in place, which the backward pass reads once more.
    bool changes() const {
        if (!passes_.training) return false;
        for (const int reader : passes_.model.readers(id_)) {
            if (passes_.model.at(reader).kind != SiteKind::product) return true;
        }
        return false;
    }

    // <x, y> of rows, in F where their columns are split.
    TensorId inner_product(const std::string& step, TensorId x, TensorId y, const std::string& name) {
        return heads_.summed(step, heads_.dot(step, x, y, name));
    }

    // Those of the rows, in C, that layer `l` makes.
    TensorId rows(const std::string& step, TensorId in, const std::string& name, int l) {
        return builder_.redistribute(step, in, rules_.spmm_in(), name + ".rows" + std::to_string(l), OpKind::aggregate,
                                     builder_.space(l));
    }

    // <y_v, x_u> of edges, where the configuration has them made.
    TensorId scores(const std::string& step, TensorId x, Copies& y, const std::string& out, const std::string& name) {
        const Place place = scores_place();
        const bool same = y.at(rules_.spmm_in()) == x;
        const TensorId column =
            builder_.redistribute(step + ".columns", x, place, name + ".columns", OpKind::aggregate);
        const TensorId row = same ? column : builder_.at(y, place, step + ".rows", name + ".rows", OpKind::aggregate);
        return edge_dot(step, column, row, out);
    }

    // h / |h|.
    TensorId unit_of(const std::string& step, TensorId h, TensorId squares, const std::string& out) {
        const TensorId unit = builder_.like(out, h);
        heads_.emit(step, HeadOp::unit, {h, squares}, unit);
        return unit;
    }

    // Where operands of edge_dot are.
    Place scores_place() const {
        switch (rules_.configuration().scores) {
            case Scores::columns: return Place::c;
            case Scores::whole_rows: return Place::f;
            case Scores::dealt_rows: return Place::r;
        }
        return Place::c;
    }

    // The product of rows. The ranks of a y-group need rows of few others, so that there they are asked for even if
    // other products get panels.
    SpmmStep dot_product() {
        if (!rules_.places_differ() || scores_place() != Place::r) return builder_.product(l_, Direction::forward);
        const TensorId dealt = builder_.adjacency(l_, Direction::forward, 1, RowSplit::over_all);
        builder_.request_rows({dealt});
        return {dealt, {}, {}, Exchange::rows, false};
    }

    // <y_v, x_u> of the nonzeros of A^T: x has the rows that the layer reads, y those that it makes, both in
    // scores_place(). The sum over ranks is made.
    TensorId edge_dot(const std::string& step, TensorId x, TensorId y, const std::string& out) {
        SpmmStep product = dot_product();
        const bool sums = rules_.places_differ() && scores_place() == Place::c;
        const bool dealt = deals_rows(builder_.tensor(product.matrix));
        const Axes partial = sums ? Axes::parse("y") : Axes();
        const TensorId made = builder_.edges(dealt ? out + ".dealt" : out, product.matrix, 1, {}, partial);
        product.set(DotOperands<TensorId>{x, y, made});
        builder_.step(step, OpKind::aggregate, product);
        if (sums) builder_.step(step + ".all_reduce", OpKind::aggregate, AllReduceStep{made});
        if (!dealt) return made;
        const TensorId gathered = builder_.edges(out, builder_.adjacency(l_, Direction::forward));
        builder_.step(step + ".gather", OpKind::aggregate, EdgeGatherStep{made, gathered});
        return gathered;
    }

    // A number for each row of a matrix.
    TensorId by_rows(const std::string& name, TensorId matrix) {
        return builder_.beside(name, matrix, 1, layout_at(Place::f));
    }

    // The softmax of beta * scores in each row.
    TensorId softmax(const std::string& step, TensorId scores, const std::string& out) {
        const TensorId matrix = *builder_.tensor(scores).structure;
        const TensorId weights = builder_.edges(out, matrix);
        const TensorId largest = by_rows(out + ".largest", matrix), total = by_rows(out + ".total", matrix);
        const TensorId beta = builder_.bias(site_.beta);
        builder_.step(step, OpKind::aggregate,
                      EdgeStep{EdgeOp::softmax, matrix, {scores, beta}, std::nullopt, {weights, largest, total}});
        return weights;
    }

    // `gradient` of the weights becomes that of the scores. Returns what goes back to beta by rows.
    struct SoftmaxBack {
        TensorId scores, weights, inner, gradient;
    };
    TensorId softmax_back(const std::string& step, const SoftmaxBack& in, const std::string& out) {
        const TensorId matrix = *builder_.tensor(in.scores).structure;
        const TensorId of_beta = by_rows(out, matrix);
        const TensorId beta = builder_.bias(site_.beta);
        builder_.step(
            step, OpKind::aggregate,
            EdgeStep{EdgeOp::softmax_back, matrix, {in.scores, in.weights, in.inner, beta}, in.gradient, {of_beta}});
        return of_beta;
    }

    // A product with these values in place of the matrix's own.
    TensorId edge_sum(const std::string& step, Direction direction, TensorId values, TensorId in,
                      const std::string& out) {
        SpmmStep product = builder_.product(l_, direction);
        const TensorId sums = builder_.result_of(product, out, in);
        product.set(EdgeSumOperands<TensorId>{in, values, sums});
        builder_.step(step, OpKind::aggregate, product);
        return sums;
    }

    // The gradient of beta, the sum of what goes back to it by rows, and its update.
    void update_beta(const std::string& step, TensorId by_rows) {
        const TensorId once = builder_.redistribute(step + ".redistribute", by_rows, Place::r,
                                                    builder_.tensor(by_rows).name + ".once", OpKind::aggregate);
        const TensorId gradient = builder_.summand(numbered("y", l_) + ".beta", 1, 1);
        builder_.step(step, OpKind::aggregate,
                      MapStep{MapOp::column_sum, once, {}, gradient, l_, Activation::none, false});
        reduce_and_update(builder_, builder_.bias(site_.beta), gradient, OpKind::aggregate);
    }

    // The gradient of h, from that of the sums and of scores.
    void pass_on(const std::string& at, const Saved& made, TensorId g, TensorId of_edges) {
        const std::string label = std::to_string(l_);
        const TensorId of_rows =
            edge_sum(at + ".rows.spmm", Direction::forward, of_edges, made.unit, "du" + label + ".rows");
        const TensorId back = edge_transpose(builder_, at + ".scores.transpose", l_, of_edges, "de" + label + ".back");
        const TensorId weights =
            edge_transpose(builder_, at + ".weights.transpose", l_, made.weights, "w" + label + ".back");
        const TensorId of_unit =
            edge_sum(at + ".unit.spmm", Direction::backward, back, made.unit_of_rows, "du" + label);
        const TensorId of_h = edge_sum(at + ".spmm", Direction::backward, weights, g, "dh" + label);
        add_to(builder_, at + ".unit.sum", of_unit, rows(at + ".rows.redistribute", of_rows, "du" + label, l_ - 1));
        const TensorId inner = inner_product(at + ".unit.inner", of_unit, made.unit, "du" + label + "inner");
        heads_.emit(at + ".unit", HeadOp::unit_back, {of_unit, made.unit, inner, made.squares}, of_h);
        const std::optional<TensorId> others = passes_.arrived(site_.input, at + ".arrived.redistribute");
        if (!others) return passes_.gradient(site_.input).copies.add(rules_.spmm_out(), of_h);
        add_to(builder_, at + ".sum", *others,
               builder_.redistribute(at + ".redistribute", of_h, Place::r, "dh" + label, OpKind::add));
    }

    HeadSteps heads_;
};

}  // namespace

void forward_cosine(Passes& passes, int site) { Cosine(passes, site).forward(); }
void backward_cosine(Passes& passes, int site) { Cosine(passes, site).backward(); }

}  // namespace gnnplan::lower
