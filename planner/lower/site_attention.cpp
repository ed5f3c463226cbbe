// Attention over the result h = H W of a linear map, and its gradients (kernels/attention.hpp has the formulas). h is
// moved once, beside one number for each head as source and one as target of edges; no value of an edge is stored,
// unless the configuration keeps scores for the backward pass. Backwards the gradient of the sums is moved once, beside
// three numbers for each head, or two with stored scores. Where y cuts heads, each rank has its own columns' part of
// the numbers by heads; they are linear in it, and are summed over y at the end.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

class Attention {
public:
    Attention(Passes& passes, int id)
        : passes_(passes), builder_(passes.builder), id_(id), site_(passes.model.at(id)), l_(site_.layer) {}

    void forward() {
        builder_.begin(Pass::forward, l_);
        const std::string at = numbered("forward.", l_);
        const TensorId input = passes_.fetch(site_.input, builder_.wanted_by(site_), at + ".input", OpKind::linear);
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        const TensorId mapped = builder_.gemm(at + ".gemm", input, site_, false, numbered("h", l_));
        const TensorId h = builder_.redistribute(at + ".redistribute", mapped, builder_.spmm_in(), numbered("h", l_),
                                                 OpKind::aggregate);
        const TensorId source = scores(at, "source", site_.heads.source, mapped, h, l_ - 1);
        const TensorId target = scores(at, "target", site_.heads.target, mapped, h, l_);
        const Builder::Attended made = builder_.attend(at + ".spmm", site_, h, source, target, passes_.training);
        Value& value = passes_.value(id_);
        if (passes_.training)
            value.attended = {h, source, target, made.sums, *made.log_total, *made.by_target, made.scores};
        value.copies.add(builder_.made_in(id_), result(at, made.sums));
    }

    // The gradient of h, and from it those of the parameters and of H.
    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = numbered("backward.", l_);
        Gradient& gradient = passes_.gradient(id_);
        const TensorId g = gradient_of_sums(at, gradient);
        bias_gradient(passes_, gradient);
        const Value::Attended& made = *passes_.value(id_).attended;
        const std::string name = numbered("d", l_);
        const TensorId of_target = builder_.head_dot(at + ".target", site_, g, made.by_target, name + "t");
        const TensorId inner = builder_.head_dot(at + ".inner", site_, g, made.sums, name + "inner");
        std::optional<TensorId> scores = made.scores;
        if (scores)
            scores = builder_.edge_transpose(at + ".scores.transpose", l_, *scores, numbered("e", l_) + ".back");
        const Builder::AttendedBack back = builder_.attend_back(
            at + ".spmm", site_, {g, made.target, made.log_total, inner, made.h, made.source, scores});
        const TensorId dt = whole_rows(at + ".target", of_target, name + "t");
        const TensorId ds = builder_.summed(at + ".source", back.source);
        add_to_parameter(at + ".source", site_.heads.source, back.h, ds);
        add_to_parameter(at + ".target", site_.heads.target, back.h, dt);
        pass_on(at, back.h);
    }

private:
    // <h, parameter> by heads for the rows of layer `l`: of whole rows where heads would be cut, else where h is.
    TensorId scores(const std::string& at, const std::string& which, int parameter, TensorId mapped, TensorId h,
                    int l) {
        const Place place = builder_.by_heads(site_);
        const TensorId from = place == Place::c ? h : mapped;
        const std::string step = at + "." + which;
        const std::string name = numbered(which.substr(0, 1), l_);
        const TensorId own =
            builder_.summed(step, builder_.head_dot(step, site_, from, builder_.weight_of(parameter), name));
        return builder_.redistribute(step + ".redistribute", own, place, name, OpKind::aggregate, builder_.space(l));
    }

    // The same for the rows that the layer reads.
    TensorId whole_rows(const std::string& step, TensorId by_heads, const std::string& name) {
        return builder_.redistribute(step + ".redistribute", builder_.summed(step, by_heads), builder_.by_heads(site_),
                                     name + ".whole", OpKind::aggregate, builder_.space(l_ - 1));
    }

    // The layer's result: the mean over heads, or the sums, which a backward pass reads once more after they have been
    // activated in place.
    TensorId result(const std::string& at, TensorId sums) {
        if (site_.heads.average) {
            const TensorId rows = builder_.redistribute(at + ".sums.redistribute", sums, Place::r,
                                                        numbered("Z", l_) + ".heads", OpKind::aggregate);
            return builder_.head_mean(at + ".mean", site_, rows, numbered("Z", l_));
        }
        return passes_.training ? builder_.copy(at + ".copy", sums, numbered("Z", l_) + suffix(builder_.spmm_out()))
                                : sums;
    }

    TensorId gradient_of_sums(const std::string& at, Gradient& gradient) {
        const std::string name = numbered("G", l_);
        const Place wanted = site_.heads.average ? Place::r : builder_.spmm_in();
        const TensorId g = builder_.at(gradient.copies, wanted, at + ".input", name, OpKind::aggregate);
        if (!site_.heads.average) return g;
        const TensorId shared = builder_.head_share(at + ".share", site_, g, name + ".heads");
        return builder_.redistribute(at + ".heads.redistribute", shared, builder_.spmm_in(), name + ".heads",
                                     OpKind::aggregate);
    }

    // The parameter's gradient and update, and what goes back through it to h.
    void add_to_parameter(const std::string& step, int id, TensorId of_h, TensorId by_heads) {
        const TensorId parameter = builder_.weight_of(id);
        const TensorId gradient =
            builder_.head_fold(step + ".weight_grad", site_, passes_.value(id_).attended->h, by_heads, id);
        builder_.head_spread(step + ".spread", site_, of_h, by_heads, parameter);
        builder_.reduce_and_update(parameter, gradient, OpKind::aggregate);
    }

    void pass_on(const std::string& at, TensorId of_h) {
        const std::string name = numbered("dh", l_);
        const TensorId right =
            builder_.redistribute(at + ".redistribute", of_h, builder_.right(site_), name, OpKind::linear);
        const TensorId left = passes_.fetch(site_.input, builder_.left(site_), at + ".operand.H", OpKind::linear);
        const TensorId weight_gradient = builder_.weight_grad(at + ".weight_grad", left, right, id_);
        if (passes_.model.at(site_.input).kind != SiteKind::input) {
            Copies& passed = passes_.gradient(site_.input).copies;
            const std::optional<TensorId> others = passes_.arrived(site_.input, at + ".arrived.redistribute");
            if (others) {
                builder_.gemm_onto(at + ".gemm", right, site_, true, *others);
            } else {
                passed.add(Place::r,
                           builder_.gemm(at + ".gemm", right, site_, true, "U" + builder_.label(site_.input)));
            }
        }
        builder_.reduce_and_update(builder_.weight(site_), weight_gradient, OpKind::linear);
    }

    Passes& passes_;
    Builder& builder_;
    int id_;
    const Site& site_;
    int l_;
};

}  // namespace

void forward_attention(Passes& passes, int site) { Attention(passes, site).forward(); }
void backward_attention(Passes& passes, int site) { Attention(passes, site).backward(); }

}  // namespace gnnplan::lower
