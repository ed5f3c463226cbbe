// max(H) W and its gradients: a product of maxima, which are no sums, so that both passes have one order. Forward the
// maxima are aggregated first; backward the gradient of each goes in equal shares to the in-neighbours that have it.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// The largest in-neighbours of layer l's input and how many of them there are, in C.
struct Maxima {
    TensorId values, ties;
};
Maxima spmm_max(Builder& builder, const std::string& step, int l, TensorId in, const std::string& out) {
    SpmmStep product = builder.product(l, Direction::forward);
    const Maxima maxima{builder.result_of(product, out, in), builder.result_of(product, out + ".ties", in)};
    product.set(MaxOperands<TensorId>{in, maxima.values, maxima.ties});
    builder.step(step, OpKind::aggregate, product);
    return maxima;
}

// The gradient of `own`, of whose rows the maxima were taken, from what each of its ties gets of theirs.
TensorId spmm_max_back(Builder& builder, const std::string& step, int l, TensorId shares, TensorId values, TensorId own,
                       const std::string& out) {
    SpmmStep product = builder.product(l, Direction::backward);
    const TensorId gradient = builder.result_of(product, out, own);
    product.set(MaxBackOperands<TensorId>{shares, values, own, gradient});
    builder.step(step, OpKind::aggregate, product);
    return gradient;
}

// gradient /= ties, 0 where there are none.
void divide(Builder& builder, const std::string& step, TensorId gradient, TensorId ties) {
    builder.step(step, OpKind::aggregate, MapStep{MapOp::divide, gradient, ties, {}, 0, Activation::none, false});
}

}  // namespace

TensorId setup_max(Builder& builder, const Site& site) {
    const Rules& rules = builder.rules();
    const TensorId input = builder.features(rules.spmm_in(), builder.space(0));
    const Maxima maxima = spmm_max(builder, "setup.1.spmm", 1, input, "T1");
    return builder.redistribute("setup.1.redistribute", maxima.values, rules.gemm_in(site), "T1", OpKind::linear);
}

void forward_max(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("forward.", l);
    Value& made = passes.value(id);
    builder.begin(Pass::forward, l);
    made.kept = passes.kept_of(id);
    if (!made.kept) {
        const TensorId operand = passes.fetch(site.input, rules.wanted_by(site), at + ".input", OpKind::aggregate);
        prepare_backward(passes, site.input);
        builder.begin(Pass::forward, l);
        const Maxima maxima = spmm_max(builder, at + ".spmm", l, operand, numbered("T", l));
        made.saved = maxima;
        made.kept = builder.redistribute(at + ".redistribute", maxima.values, rules.gemm_in(site), numbered("T", l),
                                         OpKind::linear);
    }
    made.copies.add(rules.made_in(id),
                    gemm(builder, at + ".gemm", *made.kept, site, Direction::forward, numbered("Z", l)));
}

void backward_max(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("backward.", l);
    const Value& made = passes.value(id);
    Gradient& gradient = passes.gradient(id);
    builder.begin(Pass::backward, l);
    const TensorId g = builder.at(gradient.copies, rules.right(site), at + ".input", numbered("G", l), OpKind::linear);
    const TensorId weight_gradient = weight_grad(builder, at + ".weight_grad", *made.kept, g, id);
    bias_gradient(passes, gradient);
    // The features need no gradient, but what a layer makes of them before it aggregates does.
    if (passes.model.at(site.input).kind != SiteKind::input) {
        const std::string name = "U" + rules.label(site.input);
        const TensorId rows = gemm(builder, at + ".gemm", g, site, Direction::backward, numbered("D", l));
        const TensorId shares =
            builder.redistribute(at + ".redistribute", rows, rules.spmm_in(), numbered("D", l), OpKind::aggregate);
        const auto& maxima = std::any_cast<const Maxima&>(made.saved);
        divide(builder, at + ".divide", shares, maxima.ties);
        const TensorId own = passes.fetch(site.input, rules.spmm_in(), at + ".operand.H", OpKind::aggregate);
        const TensorId unmasked = spmm_max_back(builder, at + ".spmm", l, shares, maxima.values, own, name);
        const std::optional<TensorId> others = passes.arrived(site.input, at + ".arrived.redistribute");
        Copies& passed = passes.gradient(site.input).copies;
        if (others) {
            add_to(builder, at + ".sum", *others,
                   builder.redistribute(at + ".sum.redistribute", unmasked, Place::r, name, OpKind::add));
        } else {
            passed.add(rules.spmm_out(), unmasked);
        }
    }
    update_weight(builder, site, weight_gradient);
}

}  // namespace gnnplan::lower
