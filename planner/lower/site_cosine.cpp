// Sums weighted by cosines (ir/op_graph.hpp: Reduce::cosine), and their gradients. With u = h / |h|, the edge u -> v
// has the score <u_v, u_u>, made from rows of both ends (SDDMM) and kept as a value of the edge. Its softmax over the
// in-neighbours of v, scaled by beta, is the weight w, and Z = A_w^T h. Backwards, with G the gradient of Z:
//   d w(u, v) = <G_v, h_u>, from which the softmax makes d score(u, v) and d beta
//   d h = A_w G, and d u = A_d h of both ends of d score: rows of v through A_d^T, and rows of u through A_d
// A_w and A_d have their values where A has them, which takes a transposition of values.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

class Cosine {
public:
    Cosine(Passes& passes, int id)
        : passes_(passes), builder_(passes.builder), id_(id), site_(passes.model.at(id)), l_(site_.layer) {}

    void forward() {
        builder_.begin(Pass::forward, l_);
        const std::string at = numbered("forward.", l_), label = std::to_string(l_);
        const TensorId h = passes_.fetch(site_.input, builder_.spmm_in(), at + ".input", OpKind::aggregate);
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        const TensorId squares = inner_product(at + ".squares", h, h, "n" + label);
        const TensorId unit = builder_.head_unit(at + ".unit", site_, h, squares, "u" + label);
        const TensorId of_rows = rows(at + ".unit.rows", unit, "u" + label, l_);
        Copies copies;
        copies.add(builder_.spmm_in(), of_rows);
        const TensorId cosines = scores(at + ".scores", unit, copies, "e" + label, "u" + label);
        const TensorId weights = builder_.edge_softmax(at + ".softmax", site_, cosines, "w" + label);
        const TensorId sums =
            builder_.edge_sum(at + ".spmm", l_, true, weights, h, "Z" + label + (changes() ? ".sums" : ""));
        Value& value = passes_.value(id_);
        if (passes_.training) value.compared = {h, unit, of_rows, squares, sums, cosines, weights};
        value.copies.add(builder_.made_in(id_), changes() ? builder_.copy(at + ".copy", sums, "Z" + label) : sums);
    }

    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = numbered("backward.", l_), label = std::to_string(l_);
        Gradient& gradient = passes_.gradient(id_);
        const TensorId g =
            builder_.at(gradient.copies, builder_.spmm_in(), at + ".input", "G" + label, OpKind::aggregate);
        bias_gradient(passes_, gradient);
        const Value::Compared& made = *passes_.value(id_).compared;
        const TensorId inner = inner_product(at + ".inner", g, made.sums, "d" + label + "inner");
        const TensorId of_edges = scores(at + ".weights", made.h, gradient.copies, "de" + label, "dw" + label);
        const TensorId of_beta = builder_.edge_softmax_back(
            at + ".softmax", site_, {made.cosines, made.weights, inner, of_edges}, "dbeta" + label);
        if (passes_.model.at(site_.input).kind != SiteKind::input) pass_on(at, made, g, of_edges);
        builder_.update_beta(at + ".beta", site_, of_beta);
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
        return builder_.summed(step, builder_.head_dot(step, site_, x, y, name));
    }

    // Those of the rows, in C, that layer `l` makes.
    TensorId rows(const std::string& step, TensorId in, const std::string& name, int l) {
        return builder_.redistribute(step, in, builder_.spmm_in(), name + ".rows" + std::to_string(l),
                                     OpKind::aggregate, builder_.space(l));
    }

    // <y_v, x_u> of edges, where the configuration has them made.
    TensorId scores(const std::string& step, TensorId x, Copies& y, const std::string& out, const std::string& name) {
        const Place place = builder_.scores_place();
        const bool same = y.at(builder_.spmm_in()) == x;
        const TensorId column =
            builder_.redistribute(step + ".columns", x, place, name + ".columns", OpKind::aggregate);
        const TensorId row = same ? column : builder_.at(y, place, step + ".rows", name + ".rows", OpKind::aggregate);
        return builder_.edge_dot(step, l_, column, row, out);
    }

    // The gradient of h, from that of the sums and of scores.
    void pass_on(const std::string& at, const Value::Compared& made, TensorId g, TensorId of_edges) {
        const std::string label = std::to_string(l_);
        const TensorId of_rows =
            builder_.edge_sum(at + ".rows.spmm", l_, true, of_edges, made.unit, "du" + label + ".rows");
        const TensorId back = builder_.edge_transpose(at + ".scores.transpose", l_, of_edges, "de" + label + ".back");
        const TensorId weights =
            builder_.edge_transpose(at + ".weights.transpose", l_, made.weights, "w" + label + ".back");
        const TensorId of_unit = builder_.edge_sum(at + ".unit.spmm", l_, false, back, made.unit_of_rows, "du" + label);
        const TensorId of_h = builder_.edge_sum(at + ".spmm", l_, false, weights, g, "dh" + label);
        builder_.add_to(at + ".unit.sum", of_unit, rows(at + ".rows.redistribute", of_rows, "du" + label, l_ - 1));
        const TensorId inner = inner_product(at + ".unit.inner", of_unit, made.unit, "du" + label + "inner");
        builder_.head_unit_back(at + ".unit", site_, {of_unit, made.unit, inner, made.squares}, of_h);
        const std::optional<TensorId> others = passes_.arrived(site_.input, at + ".arrived.redistribute");
        if (!others) return passes_.gradient(site_.input).copies.add(builder_.spmm_out(), of_h);
        builder_.add_to(at + ".sum", *others,
                        builder_.redistribute(at + ".redistribute", of_h, Place::r, "dh" + label, OpKind::add));
    }

    Passes& passes_;
    Builder& builder_;
    int id_;
    const Site& site_;
    int l_;
};

}  // namespace

void forward_cosine(Passes& passes, int site) { Cosine(passes, site).forward(); }
void backward_cosine(Passes& passes, int site) { Cosine(passes, site).backward(); }

}  // namespace gnnplan::lower
