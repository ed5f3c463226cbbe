// dropout(relu(Z + b)) in place, its mask, and the gradient of the bias.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {

// H in place of Z, and the mask in the same pass where it is taken from H as it is produced.
void forward_pointwise(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    Value& made = passes.value(id);
    builder.begin(Pass::forward, l);
    const Place produced_in = builder.activation_produced_in(l);
    const bool masked = passes.training && site.relu;
    const Place source = masked ? mask_rule(builder, l).taken() : produced_in;
    std::optional<std::string> name;
    if (masked && (source == produced_in || !builder.places_differ())) name = numbered("mask", l) + suffix(source);
    const TensorId z = passes.value(site.input).copies.at(produced_in);
    const auto bits = builder.activate(numbered("forward.", l) + ".activate", z, site, passes.training, name);
    made.copies.add(produced_in, z);
    if (bits) made.mask.add(source, *bits);
}

void prepare_backward(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const int l = passes.model.at(id).layer;
    Value& made = passes.value(id);
    builder.begin(Pass::keep, l);
    if (builder.moves_input(l + 1)) passes.fetch(id, builder.left(l + 1), numbered("operand.H", l), OpKind::linear);
    const MaskRule rule = mask_rule(builder, l);
    const Place source = rule.taken();
    if (!made.mask.in(source)) {
        const TensorId h = made.copies.at(made.copies.source_for(source));
        made.mask.add(source, builder.positive_mask(numbered("mask.", l), h, numbered("mask", l) + suffix(source)));
    }
    builder.at(made.mask, rule.at, numbered("mask.", l) + ".redistribute", numbered("mask", l), OpKind::relu);
}

// G = dL/dZ is dL/dH masked, by the rule for its mask.
void backward_pointwise(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    Copies gradient = passes.gradient(id).copies;
    if (site.relu) {
        builder.begin(Pass::backward, l);
        const MaskRule rule = mask_rule(builder, l);
        Place place = builder.gradient_produced_in(l + 1);
        if (rule.delayed) {
            const TensorId moved = builder.at(gradient, rule.at, numbered("backward.", l) + ".input", numbered("G", l),
                                              first_operation(builder.backward(l)));
            place = rule.at;
            gradient = Copies();
            gradient.add(place, moved);
        }
        builder.apply_mask(numbered("backward.", l) + ".mask", gradient.at(place), passes.value(id).mask.at(rule.at),
                           site);
    }
    Gradient& passed = passes.gradient(site.input);
    passed.copies = gradient;
    if (site.parameter >= 0) passed.biased = &site;
}

void bias_gradient(Passes& passes, const Gradient& gradient) {
    if (gradient.biased == nullptr) return;
    Builder& builder = passes.builder;
    const Site& site = *gradient.biased;
    const Copies& g = gradient.copies;
    const TensorId source = g.in(Place::r) ? g.at(Place::r) : g.at(Place::c);
    const TensorId sum = builder.column_sum(numbered("backward.", site.layer) + ".bias_grad", source, site.layer);
    builder.reduce_and_update(builder.bias(site), sum, OpKind::bias);
}

}  // namespace gnnplan::lower
