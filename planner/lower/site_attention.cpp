// Attention over the result h = H W of a linear map, and its gradients (kernels/attention.hpp has the formulas). h is
// moved once, beside one number for each head as source and one as target of edges; no value of an edge is stored,
// unless the configuration keeps scores for the backward pass. Backwards the gradient of the sums is moved once, beside
// three numbers for each head, or two with stored scores. Where y cuts heads, each rank has its own columns' part of
// the numbers by heads; they are linear in it, and are summed over y at the end.
#include "planner/lower/heads.hpp"
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// Saves the operands and results of the forward pass, h and sums in C.
class Attention : SitePass {
public:
    Attention(Passes& passes, int id) : SitePass(passes, id), heads_(builder_, site_) {}

    void forward() {
        builder_.begin(Pass::forward, l_);
        const std::string at = numbered("forward.", l_);
        const TensorId input = passes_.fetch(site_.input, rules_.wanted_by(site_), at + ".input", OpKind::linear);
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        const TensorId mapped = gemm(builder_, at + ".gemm", input, site_, Direction::forward, numbered("h", l_));
        const TensorId h =
            builder_.redistribute(at + ".redistribute", mapped, rules_.spmm_in(), numbered("h", l_), OpKind::aggregate);
        const TensorId source = scores(at, "source", site_.heads.source, mapped, h, l_ - 1);
        const TensorId target = scores(at, "target", site_.heads.target, mapped, h, l_);
        const AttendOperands<TensorId> made = attend(at + ".spmm", h, source, target);
        Value& value = passes_.value(id_);
        if (passes_.training) value.saved = made;
        value.copies.add(rules_.made_in(id_), result(at, made.sums));
    }

    // The gradient of h, and from it those of the parameters and of H.
    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = numbered("backward.", l_);
        Gradient& gradient = passes_.gradient(id_);
        const TensorId g = gradient_of_sums(at, gradient);
        bias_gradient(passes_, gradient);
        const auto& made = std::any_cast<const AttendOperands<TensorId>&>(passes_.value(id_).saved);
        const std::string name = numbered("d", l_);
        const TensorId of_target = heads_.dot(at + ".target", g, *made.by_target, name + "t");
        const TensorId inner = heads_.dot(at + ".inner", g, made.sums, name + "inner");
        std::optional<TensorId> scores = made.scores;
        if (scores)
            scores = edge_transpose(builder_, at + ".scores.transpose", l_, *scores, numbered("e", l_) + ".back");
        const AttendBackOperands<TensorId> back = attend_back(at + ".spmm", made, g, inner, scores);
        const TensorId dt = whole_rows(at + ".target", of_target, name + "t");
        const TensorId ds = heads_.summed(at + ".source", back.of_source);
        add_to_parameter(at + ".source", site_.heads.source, made.h, back.of_h, ds);
        add_to_parameter(at + ".target", site_.heads.target, made.h, back.of_h, dt);
        pass_on(at, back.of_h);
    }

private:
    // The sums of attention over the layer's in-neighbours, and in training what the backward pass wants of them.
    AttendOperands<TensorId> attend(const std::string& step, TensorId h, TensorId source, TensorId target) {
        const bool training = passes_.training;
        SpmmStep product = builder_.product(l_, Direction::forward);
        const bool stored = training && rules_.configuration().attention == AttentionScores::stored;
        product.attending = {site_.heads.count, site_.heads.slope, l_, training, stored};
        // Where what follows makes Z of them, they are not Z.
        const std::string z = numbered("Z", l_);
        const std::string name = z + (training || site_.heads.average ? ".sums" : "");
        const TensorId sums = builder_.result_of(product, name, h);
        const Layout layout = layout_at(heads_.place());
        const auto beside = [&](const char* which) { return heads_.by_heads(z + which, sums, layout); };
        const TensorId log_total = beside(".log_total"), total = beside(".total");
        AttendOperands<TensorId> made{
            .h = h, .source = source, .target = target, .sums = sums, .log_total = log_total, .total = total};
        if (training) {
            made.by_target = builder_.result_of(product, z + ".by_target", h);
            made.negative_share = beside(".negative_share");
            if (stored)
                made.scores = builder_.edges(numbered("e", l_), product.matrix, site_.heads.count, layout.columns);
            made.column_vertices = builder_.per_row(Role::vertices, h);
            made.row_vertices = builder_.per_row(Role::vertices, sums);
        }
        product.set(made);
        builder_.step(step, OpKind::aggregate, product);
        return made;
    }

    // The gradients of h, for given weights, and of source, from that of the sums, `gradient`; `inner` is
    // <gradient, sums> by heads. With `scores`, where A has its nonzeros, target and source are not read.
    AttendBackOperands<TensorId> attend_back(const std::string& step, const AttendOperands<TensorId>& forward,
                                             TensorId gradient, TensorId inner, std::optional<TensorId> scores) {
        SpmmStep product = builder_.product(l_, Direction::backward);
        const bool stored = scores.has_value();
        product.attending = {site_.heads.count, site_.heads.slope, l_, !stored, stored};
        AttendBackOperands<TensorId> made{};
        made.gradient = gradient, made.log_total = forward.log_total, made.inner = inner;
        made.h = forward.h, made.scores = scores;
        if (!stored) {
            made.target = forward.target, made.source = forward.source;
            made.column_vertices = builder_.per_row(Role::vertices, gradient);
            made.row_vertices = builder_.per_row(Role::vertices, forward.h);
        }
        Layout layout = layout_at(heads_.place());
        if (heads_.place() == Place::f) layout.partial = Axes::parse("y");
        made.of_h = builder_.result_of(product, numbered("dh", l_), forward.h);
        made.of_source = heads_.by_heads(numbered("ds", l_), forward.h, layout);
        product.set(made);
        builder_.step(step, OpKind::aggregate, product);
        return made;
    }

    // The mean over heads, in R, and the gradient that goes back from it.
    TensorId mean(const std::string& step, TensorId wide, const std::string& out) {
        return in_rows(step, HeadOp::mean, wide, site_.width, out);
    }
    TensorId share(const std::string& step, TensorId narrow, const std::string& out) {
        return in_rows(step, HeadOp::share, narrow, site_.mapped_width(), out);
    }
    TensorId in_rows(const std::string& step, HeadOp op, TensorId in, std::int64_t columns, const std::string& out) {
        const TensorId made = builder_.beside(out + suffix(Place::r), in, columns, layout_at(Place::r));
        heads_.emit(step, op, {in}, made);
        return made;
    }

    // The gradient of a parameter by heads: the sums over rows of wide * by_heads.
    TensorId fold(const std::string& step, TensorId wide, TensorId by_heads, int parameter) {
        const Parameter& p = passes_.model.parameter(parameter);
        const TensorId gradient = builder_.summand("Y." + p.symbol, p.rows(), p.columns());
        heads_.emit(step, HeadOp::fold, {wide, by_heads}, gradient);
        return gradient;
    }

    // <h, parameter> by heads for the rows of layer `l`: of whole rows where heads would be cut, else where h is.
    TensorId scores(const std::string& at, const std::string& which, int parameter, TensorId mapped, TensorId h,
                    int l) {
        const Place place = heads_.place();
        const TensorId from = place == Place::c ? h : mapped;
        const std::string step = at + "." + which;
        const std::string name = numbered(which.substr(0, 1), l_);
        const TensorId own = heads_.summed(step, heads_.dot(step, from, builder_.weight(parameter), name));
        return builder_.redistribute(step + ".redistribute", own, place, name, OpKind::aggregate, builder_.space(l));
    }

    // The same for the rows that the layer reads.
    TensorId whole_rows(const std::string& step, TensorId by_heads, const std::string& name) {
        return builder_.redistribute(step + ".redistribute", heads_.summed(step, by_heads), heads_.place(),
                                     name + ".whole", OpKind::aggregate, builder_.space(l_ - 1));
    }

    // The layer's result: the mean over heads, or the sums, which a backward pass reads once more after they have been
    // activated in place.
    TensorId result(const std::string& at, TensorId sums) {
        if (site_.heads.average) {
            const TensorId rows = builder_.redistribute(at + ".sums.redistribute", sums, Place::r,
                                                        numbered("Z", l_) + ".heads", OpKind::aggregate);
            return mean(at + ".mean", rows, numbered("Z", l_));
        }
        return passes_.training ? copy(builder_, at + ".copy", sums, numbered("Z", l_) + suffix(rules_.spmm_out()))
                                : sums;
    }

    TensorId gradient_of_sums(const std::string& at, Gradient& gradient) {
        const std::string name = numbered("G", l_);
        const Place wanted = site_.heads.average ? Place::r : rules_.spmm_in();
        const TensorId g = builder_.at(gradient.copies, wanted, at + ".input", name, OpKind::aggregate);
        if (!site_.heads.average) return g;
        const TensorId shared = share(at + ".share", g, name + ".heads");
        return builder_.redistribute(at + ".heads.redistribute", shared, rules_.spmm_in(), name + ".heads",
                                     OpKind::aggregate);
    }

    // The parameter's gradient and update, and what goes back through it to h.
    void add_to_parameter(const std::string& step, int id, TensorId h, TensorId of_h, TensorId by_heads) {
        const TensorId parameter = builder_.weight(id);
        const TensorId gradient = fold(step + ".weight_grad", h, by_heads, id);
        heads_.emit(step + ".spread", HeadOp::spread, {by_heads, parameter}, of_h);
        reduce_and_update(builder_, parameter, gradient, OpKind::aggregate);
    }

    void pass_on(const std::string& at, TensorId of_h) {
        const std::string name = numbered("dh", l_);
        const TensorId right =
            builder_.redistribute(at + ".redistribute", of_h, rules_.right(site_), name, OpKind::linear);
        const TensorId left = passes_.fetch(site_.input, rules_.left(site_), at + ".operand.H", OpKind::linear);
        const TensorId weight_gradient = weight_grad(builder_, at + ".weight_grad", left, right, id_);
        if (passes_.model.at(site_.input).kind != SiteKind::input) {
            Copies& passed = passes_.gradient(site_.input).copies;
            const std::optional<TensorId> others = passes_.arrived(site_.input, at + ".arrived.redistribute");
            if (others) {
                gemm_onto(builder_, at + ".gemm", right, site_, Direction::backward, *others);
            } else {
                passed.add(Place::r, gemm(builder_, at + ".gemm", right, site_, Direction::backward,
                                          "U" + rules_.label(site_.input)));
            }
        }
        update_weight(builder_, site_, weight_gradient);
    }

    HeadSteps heads_;
};

}  // namespace

void forward_attention(Passes& passes, int site) { Attention(passes, site).forward(); }
void backward_attention(Passes& passes, int site) { Attention(passes, site).backward(); }

}  // namespace gnnplan::lower
