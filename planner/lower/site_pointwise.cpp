// dropout(activation(Z + b)) in place, its mask, and the gradient of the bias.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

bool masks_bits(const Site& site) { return site.activation == Activation::relu; }
bool masks_values(const Site& site) { return site.activation != Activation::none && !masks_bits(site); }

// The layer whose dropout the step takes part in; that of the next one where it takes part in none.
int key_layer(const Site& site) { return site.dropout > 0 ? site.dropout : site.layer + 1; }

// Whether the site makes anything else than what it reads.
bool changes(const Passes& passes, const Site& site) {
    const bool dropped = passes.training && site.dropout > 0;
    return site.parameter >= 0 || site.activation != Activation::none || dropped;
}

// With `mask`, the bits H^l > 0 are made in the same pass and returned under that name.
std::optional<TensorId> activate(Passes& passes, const std::string& step, TensorId z, const Site& site,
                                 const std::optional<std::string>& mask) {
    Builder& builder = passes.builder;
    if (!changes(passes, site)) return std::nullopt;
    const bool dropped = passes.training && site.dropout > 0;
    const bool biased = site.parameter >= 0;
    const std::optional<TensorId> bias = biased ? std::optional(builder.bias(site.parameter)) : std::nullopt;
    const auto keys = dropped ? builder.draw_keys(z) : std::nullopt;
    std::optional<TensorId> bits;
    if (mask) bits = builder.like(*mask, z, DType::bits);
    builder.step(step, operation_of(site.activation),
                 MapStep{MapOp::activate, z, bias, bits, key_layer(site), site.activation, dropped, keys});
    return bits;
}

TensorId positive_mask(Builder& builder, const std::string& step, TensorId h, const std::string& out) {
    const TensorId mask = builder.like(out, h, DType::bits);
    builder.step(step, OpKind::relu, MapStep{MapOp::positive_mask, h, {}, mask, 0, Activation::none, false});
    return mask;
}

void apply_mask(Builder& builder, const std::string& step, TensorId g, TensorId mask, const Site& site) {
    builder.step(step, OpKind::relu,
                 MapStep{MapOp::apply_mask, g, mask, {}, key_layer(site), Activation::none, site.dropout > 0});
}

// The same after other activations: `h` is what the site made, and none where it has no activation.
void activation_gradient(Builder& builder, const std::string& step, TensorId g, std::optional<TensorId> h,
                         const Site& site) {
    const bool dropped = site.dropout > 0;
    const auto keys = dropped ? builder.draw_keys(g) : std::nullopt;
    builder.step(step, operation_of(site.activation),
                 MapStep{MapOp::activation_gradient, g, h, {}, key_layer(site), site.activation, dropped, keys});
}

TensorId column_sum(Builder& builder, const std::string& step, TensorId in, int pointwise) {
    const Rules& rules = builder.rules();
    const TensorId sum = builder.summand("y" + rules.label(pointwise), 1, builder.tensor(in).columns);
    const int layer = rules.model().at(pointwise).layer;
    builder.step(step, OpKind::bias, MapStep{MapOp::column_sum, in, {}, sum, layer, Activation::none, false});
    return sum;
}

}  // namespace

// H in place of Z, and the mask in the same pass where it is taken from H as it is made.
void forward_pointwise(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const std::string label = rules.label(id);
    Value& made = passes.value(id);
    builder.begin(Pass::forward, site.layer);
    const Place made_in = rules.made_in(id);
    const bool masked = passes.keeps(id) && masks_bits(site);
    const Place source = masked ? mask_rule(rules, id).taken() : made_in;
    std::optional<std::string> name;
    if (masked && (source == made_in || !rules.places_differ())) name = "mask" + label + suffix(source);
    TensorId z = passes.value(site.input).copies.at(made_in);
    if (passes.model.readers(site.input).size() > 1) {
        prepare_backward(passes, site.input);
        builder.begin(Pass::forward, site.layer);
        if (changes(passes, site)) z = copy(builder, "forward." + label + ".copy", z, "H" + label);
    }
    const auto bits = activate(passes, "forward." + label + ".activate", z, site, name);
    made.copies.add(made_in, z);
    if (bits) made.mask.add(source, *bits);
}

void prepare_backward(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    Value& made = passes.value(id);
    if (!passes.keeps(id) || site.kind != SiteKind::pointwise || made.prepared) return;
    made.prepared = true;
    const std::string label = rules.label(id);
    builder.begin(Pass::keep, site.layer);
    for (const int reader : passes.model.readers(id)) {
        const Site& reading = passes.model.at(reader);
        if (reading.kind == SiteKind::product && rules.moves_input(reading))
            passes.fetch(id, rules.left(reading), "operand.H" + label, OpKind::linear);
    }
    if (site.activation == Activation::none) return;
    const MaskRule rule = mask_rule(rules, id);
    if (masks_values(site)) {
        passes.fetch(id, rule.at, "mask." + label + ".redistribute", operation_of(site.activation));
        return;
    }
    const Place source = rule.taken();
    if (!made.mask.in(source)) {
        const TensorId h = passes.fetch(id, source, "mask." + label + ".H", OpKind::relu);
        made.mask.add(source, positive_mask(builder, "mask." + label, h, "mask" + label + suffix(source)));
    }
    builder.at(made.mask, rule.at, "mask." + label + ".redistribute", "mask" + label, OpKind::relu);
}

// G = dL/dZ is dL/dH masked, by the rule for its mask.
void backward_pointwise(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = "backward." + rules.label(id);
    Copies gradient = passes.gradient(id).copies;
    builder.begin(Pass::backward, l);
    if (site.activation != Activation::none) {
        const MaskRule rule = mask_rule(rules, id);
        Place place = rules.gradient_made_in(id);
        if (rule.delayed) {
            const int sum = rules.sum_below(site.input);
            const bool of_product = passes.model.at(sum).kind == SiteKind::product;
            const OpKind reader = of_product ? first_operation(rules.backward(l)) : OpKind::linear;
            const std::string to = rules.label(sum);  // whose backward pass needs the move anyway
            const TensorId moved = builder.at(gradient, rule.at, "backward." + to + ".input", "G" + to, reader);
            place = rule.at;
            gradient = Copies();
            gradient.add(place, moved);
        }
        if (masks_bits(site)) {
            apply_mask(builder, at + ".mask", gradient.at(place), passes.value(id).mask.at(rule.at), site);
        } else {
            activation_gradient(builder, at + ".activation", gradient.at(place),
                                passes.fetch(id, rule.at, at + ".H", operation_of(site.activation)), site);
        }
    } else if (site.dropout > 0) {
        activation_gradient(builder, at + ".dropout", gradient.at(rules.gradient_made_in(id)), {}, site);
    }
    const bool added = passes.pass_on(site.input, gradient, at, "G" + rules.label(id));
    if (!added && site.parameter >= 0) passes.gradient(site.input).biased = id;
}

void bias_gradient(Passes& passes, const Gradient& gradient) {
    if (!gradient.biased) return;
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const int id = *gradient.biased;
    const Copies& g = gradient.copies;
    const TensorId source = g.in(Place::r) ? g.at(Place::r) : g.at(Place::c);
    const TensorId sum = column_sum(builder, "backward." + rules.label(id) + ".bias_grad", source, id);
    reduce_and_update(builder, builder.bias(passes.model.at(id).parameter), sum, OpKind::bias);
}

}  // namespace gnnplan::lower
