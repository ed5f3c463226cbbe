// max(H) W and its gradients: a product of maxima, which are no sums, so that both passes have one order. Forward the
// maxima are aggregated first; backward the gradient of each goes in equal shares to the in-neighbours that have it.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {

void forward_max(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("forward.", l);
    Value& made = passes.value(id);
    builder.begin(Pass::forward, l);
    if (l == 1 && passes.cached) {
        made.kept = passes.cached;
    } else {
        const TensorId operand = passes.fetch(site.input, builder.wanted_by(site), at + ".input", OpKind::aggregate);
        prepare_backward(passes, site.input);
        builder.begin(Pass::forward, l);
        const Builder::Maxima maxima = builder.spmm_max(at + ".spmm", l, operand, numbered("T", l));
        made.maxima = maxima.values;
        made.ties = maxima.ties;
        made.kept = builder.redistribute(at + ".redistribute", maxima.values, builder.gemm_in(site), numbered("T", l),
                                         OpKind::linear);
    }
    made.copies.add(builder.made_in(id), builder.gemm(at + ".gemm", *made.kept, site, false, numbered("Z", l)));
}

void backward_max(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("backward.", l);
    const Value& made = passes.value(id);
    Gradient& gradient = passes.gradient(id);
    builder.begin(Pass::backward, l);
    const TensorId g =
        builder.at(gradient.copies, builder.right(site), at + ".input", numbered("G", l), OpKind::linear);
    const TensorId weight_gradient = builder.weight_grad(at + ".weight_grad", *made.kept, g, id);
    bias_gradient(passes, gradient);
    // The features need no gradient, but what a layer makes of them before it aggregates does.
    if (passes.model.at(site.input).kind != SiteKind::input) {
        const std::string name = "U" + builder.label(site.input);
        const TensorId rows = builder.gemm(at + ".gemm", g, site, true, numbered("D", l));
        const TensorId shares =
            builder.redistribute(at + ".redistribute", rows, builder.spmm_in(), numbered("D", l), OpKind::aggregate);
        builder.divide(at + ".divide", shares, *made.ties);
        const TensorId own = passes.fetch(site.input, builder.spmm_in(), at + ".operand.H", OpKind::aggregate);
        const TensorId unmasked = builder.spmm_max_back(at + ".spmm", l, shares, *made.maxima, own, name);
        const std::optional<TensorId> others = passes.arrived(site.input, at + ".arrived.redistribute");
        Copies& passed = passes.gradient(site.input).copies;
        if (others) {
            builder.add_to(at + ".sum", *others,
                           builder.redistribute(at + ".sum.redistribute", unmasked, Place::r, name, OpKind::add));
        } else {
            passed.add(builder.spmm_out(), unmasked);
        }
    }
    builder.reduce_and_update(builder.weight(site), weight_gradient, OpKind::linear);
}

}  // namespace gnnplan::lower
