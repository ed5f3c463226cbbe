#include "planner/lower/builder.hpp"

namespace gnnplan::lower {
namespace {

// T^l = A^T H^(l-1) in left(l), where the dense product wants it.
TensorId aggregate(Builder& builder, const std::string& at, TensorId input, int l) {
    const TensorId aggregated = builder.spmm(at + ".spmm", l, true, input, numbered("T", l));
    return builder.redistribute(at + ".redistribute", aggregated, builder.gemm_in(l), numbered("T", l), OpKind::linear);
}

// Forward S: H -> spmm -> T -> gemm -> Z. Forward D: H -> gemm -> B -> spmm -> Z; redistributed wherever a product
// wants its operand elsewhere.
TensorId product(Builder& builder, TensorId input, int l, Forward& forward) {
    const std::string at = numbered("forward.", l);
    if (builder.forward(l) == Order::sparse_first) {
        const TensorId rows = aggregate(builder, at, input, l);
        if (builder.operand(l) == Operand::product) forward.kept[static_cast<std::size_t>(l)] = rows;
        return builder.gemm(at + ".gemm", rows, l, false, numbered("Z", l));
    }
    const TensorId combined = builder.gemm(at + ".gemm", input, l, false, numbered("B", l));
    const TensorId columns =
        builder.redistribute(at + ".redistribute", combined, builder.spmm_in(), numbered("B", l), OpKind::aggregate);
    return builder.spmm(at + ".spmm", l, true, columns, numbered("Z", l));
}

// The layout in which the mask of H^l is taken.
Place mask_source(const Builder& builder, int l) {
    const MaskRule rule = mask_rule(builder, l);
    return rule.from.value_or(rule.at);
}

// H^l in place of Z^l, and the mask in the same pass where it is taken from H^l as it is born.
void activate(Builder& builder, int l, TensorId z, bool training, Forward& forward) {
    const Place born = builder.activation_born(l);
    const bool masked = training && l < builder.depth();
    const Place source = masked ? mask_source(builder, l) : born;
    std::optional<std::string> name;
    if (masked && (source == born || !builder.places_differ())) name = numbered("mask", l) + suffix(source);
    const auto bits = builder.activate(numbered("forward.", l) + ".activate", z, l, training, name);
    forward.activations[static_cast<std::size_t>(l)].add(born, z);
    if (bits) forward.masks[static_cast<std::size_t>(l)].add(source, *bits);
}

// What the backward pass will want of H^l, made while H^l is at hand: a copy as operand of Y^(l+1), and its mask.
void prepare_backward(Builder& builder, int l, Forward& forward) {
    builder.begin(Pass::keep, l);
    Copies& h = forward.activations[static_cast<std::size_t>(l)];
    if (builder.moves_input(l + 1)) {
        builder.at(h, builder.left(l + 1), numbered("operand.H", l), numbered("H", l), OpKind::linear);
    }
    Copies& mask = forward.masks[static_cast<std::size_t>(l)];
    const Place source = mask_source(builder, l);
    if (!mask.in(source)) {
        mask.add(source, builder.positive_mask(numbered("mask.", l), h.at(h.source_for(source)),
                                               numbered("mask", l) + suffix(source)));
    }
    builder.at(mask, mask_rule(builder, l).at, numbered("mask.", l) + ".redistribute", numbered("mask", l),
               OpKind::relu);
    builder.begin(Pass::forward, l + 1);
}

// Z^l from H^(l-1), or layer 1's from its cached aggregation.
TensorId layer_output(Builder& builder, int l, bool training, std::optional<TensorId> cached, Forward& forward) {
    builder.begin(Pass::forward, l);
    if (l == 1 && cached) {
        forward.kept[1] = cached;
        return builder.gemm("forward.1.gemm", *cached, 1, false, "Z1");
    }
    Copies& input = forward.activations[static_cast<std::size_t>(l - 1)];
    const Place wanted = builder.forward_in(l);
    const TensorId operand = l == 1 ? input_at(builder, input, wanted, training)
                                    : builder.at(input, wanted, numbered("forward.", l) + ".input",
                                                 numbered("H", l - 1), first_operation(builder.forward(l)));
    if (training && l > 1) prepare_backward(builder, l - 1, forward);
    return product(builder, operand, l, forward);
}

}  // namespace

TensorId input_at(Builder& builder, Copies& input, Place place, bool training) {
    if (input.in(place)) return input.at(place);
    const Place source = input.source_for(place);
    if (!builder.places_differ() && input.in(source)) return input.at(source);
    TensorId id = builder.features(place);
    if (training && builder.layer(1).dropout && !builder.configuration().constant_input) {
        id = builder.dropout_input(std::string("dropout.0") + suffix(place), id,
                                   std::string("H0.dropped") + suffix(place));
    }
    input.add(place, id);
    return id;
}

std::optional<TensorId> lower_setup(Builder& builder) {
    if (!builder.configuration().cached_aggregation) return std::nullopt;
    builder.begin_phase(Phase::setup);
    builder.begin(Pass::forward, 1);
    const TensorId cached = aggregate(builder, "setup.1", builder.features(builder.spmm_in()), 1);
    builder.cache(cached);
    return cached;
}

Forward lower_forward(Builder& builder, bool training, std::optional<TensorId> cached) {
    const auto depth = static_cast<std::size_t>(builder.depth());
    Forward forward;
    forward.activations.resize(depth + 1);
    forward.kept.resize(depth + 1);
    forward.masks.resize(depth + 1);
    for (int l = 1; l <= builder.depth(); ++l) {
        const TensorId z = layer_output(builder, l, training, cached, forward);
        activate(builder, l, z, training, forward);
    }
    const Place wanted = training ? builder.loss_place() : Place::r;
    forward.logits =
        builder.at(forward.activations[depth], wanted, "forward.logits", "logits", OpKind::softmax_cross_entropy);
    return forward;
}

}  // namespace gnnplan::lower
