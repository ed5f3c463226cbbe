// dropout(activation(Z + b)) in place, its mask, and the gradient of the bias.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

bool masks_bits(const Site& site) { return site.activation == Activation::relu; }
bool masks_values(const Site& site) { return site.activation != Activation::none && !masks_bits(site); }

}  // namespace

// H in place of Z, and the mask in the same pass where it is taken from H as it is made.
void forward_pointwise(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const std::string label = builder.label(id);
    Value& made = passes.value(id);
    builder.begin(Pass::forward, site.layer);
    const Place made_in = builder.made_in(id);
    const bool masked = passes.training && masks_bits(site);
    const Place source = masked ? mask_rule(builder, id).taken() : made_in;
    std::optional<std::string> name;
    if (masked && (source == made_in || !builder.places_differ())) name = "mask" + label + suffix(source);
    const TensorId z = passes.value(site.input).copies.at(made_in);
    const auto bits = builder.activate("forward." + label + ".activate", z, site, passes.training, name);
    made.copies.add(made_in, z);
    if (bits) made.mask.add(source, *bits);
}

void prepare_backward(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    Value& made = passes.value(id);
    if (!passes.training || site.kind != SiteKind::pointwise || made.prepared) return;
    made.prepared = true;
    const std::string label = builder.label(id);
    builder.begin(Pass::keep, site.layer);
    for (const int reader : passes.model.readers(id)) {
        const Site& reading = passes.model.at(reader);
        if (reading.kind == SiteKind::product && builder.moves_input(reading))
            passes.fetch(id, builder.left(reading), "operand.H" + label, OpKind::linear);
    }
    if (site.activation == Activation::none) return;
    const MaskRule rule = mask_rule(builder, id);
    if (masks_values(site)) {
        passes.fetch(id, rule.at, "mask." + label + ".redistribute", operation_of(site.activation));
        return;
    }
    const Place source = rule.taken();
    if (!made.mask.in(source)) {
        const TensorId h = made.copies.at(made.copies.source_for(source));
        made.mask.add(source, builder.positive_mask("mask." + label, h, "mask" + label + suffix(source)));
    }
    builder.at(made.mask, rule.at, "mask." + label + ".redistribute", "mask" + label, OpKind::relu);
}

// G = dL/dZ is dL/dH masked, by the rule for its mask.
void backward_pointwise(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = "backward." + builder.label(id);
    Copies gradient = passes.gradient(id).copies;
    builder.begin(Pass::backward, l);
    if (site.activation != Activation::none) {
        const MaskRule rule = mask_rule(builder, id);
        Place place = builder.gradient_made_in(id);
        if (rule.delayed) {
            const Site& before = passes.model.at(site.input);
            const OpKind reader =
                before.kind == SiteKind::product ? first_operation(builder.backward(l)) : OpKind::linear;
            const std::string to = builder.label(site.input);  // whose backward pass needs the move anyway
            const TensorId moved = builder.at(gradient, rule.at, "backward." + to + ".input", "G" + to, reader);
            place = rule.at;
            gradient = Copies();
            gradient.add(place, moved);
        }
        if (masks_bits(site)) {
            builder.apply_mask(at + ".mask", gradient.at(place), passes.value(id).mask.at(rule.at), site);
        } else {
            builder.activation_gradient(at + ".activation", gradient.at(place), passes.value(id).copies.at(rule.at),
                                        site);
        }
    } else if (site.dropout > 0) {
        builder.activation_gradient(at + ".dropout", gradient.at(builder.gradient_made_in(id)), {}, site);
    }
    Gradient& passed = passes.gradient(site.input);
    passed.copies = gradient;
    if (site.parameter >= 0) passed.biased = id;
}

void bias_gradient(Passes& passes, const Gradient& gradient) {
    if (!gradient.biased) return;
    Builder& builder = passes.builder;
    const int id = *gradient.biased;
    const Copies& g = gradient.copies;
    const TensorId source = g.in(Place::r) ? g.at(Place::r) : g.at(Place::c);
    const TensorId sum = builder.column_sum("backward." + builder.label(id) + ".bias_grad", source, id);
    builder.reduce_and_update(builder.bias(passes.model.at(id)), sum, OpKind::bias);
}

}  // namespace gnnplan::lower
