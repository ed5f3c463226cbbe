#include "planner/lower/builder.hpp"

namespace gnnplan::lower {
namespace {

// Forward S: H in C -> spmm -> T -> R -> gemm -> Z in R. Forward D: H in R -> gemm -> B -> C -> spmm -> Z in C.
TensorId product(Builder& builder, TensorId input, int l, Forward& forward) {
    const std::string at = numbered("forward.", l);
    if (builder.forward(l) == Order::sparse_first) {
        const TensorId aggregated = builder.spmm(at + ".spmm", true, input, numbered("T", l));
        const TensorId rows = builder.redistribute(at + ".redistribute", aggregated, Place::r, numbered("T", l));
        if (builder.keeps(l)) forward.kept[static_cast<std::size_t>(l)] = rows;
        return builder.gemm(at + ".gemm", rows, l, false, numbered("Z", l));
    }
    const TensorId combined = builder.gemm(at + ".gemm", input, l, false, numbered("B", l));
    const TensorId columns = builder.redistribute(at + ".redistribute", combined, Place::c, numbered("B", l));
    return builder.spmm(at + ".spmm", true, columns, numbered("Z", l));
}

// What the backward pass will want of H^l, made while H^l is at hand: a copy in R as operand of Y^(l+1), and its mask.
void prepare_backward(Builder& builder, int l, Forward& forward) {
    Copies& h = forward.activations[static_cast<std::size_t>(l)];
    if (moves_input(builder, l + 1)) builder.at(h, Place::r, numbered("operand.H", l), numbered("H", l));
    const MaskRule rule = mask_rule(builder, l);
    const Place source = rule.from.value_or(rule.at);
    const TensorId bits = builder.positive_mask(numbered("mask.", l), h.in(source) ? h.at(source) : h.at(other(source)),
                                                numbered("mask", l) + suffix(source));
    Copies& mask = forward.masks[static_cast<std::size_t>(l)];
    mask.add(source, bits);
    builder.at(mask, rule.at, numbered("mask.", l) + ".redistribute", numbered("mask", l));
}

}  // namespace

TensorId input_at(Builder& builder, Copies& input, Place place, bool training) {
    if (input.in(place)) return input.at(place);
    if (!builder.places_differ() && input.in(other(place))) return input.at(other(place));
    TensorId id = builder.features(place);
    if (training && builder.layer(1).dropout && !builder.configuration().constant_input) {
        id = builder.dropout_input(std::string("dropout.0") + suffix(place), id,
                                   std::string("H0.dropped") + suffix(place));
    }
    input.add(place, id);
    return id;
}

Forward lower_forward(Builder& builder, bool training) {
    const auto depth = static_cast<std::size_t>(builder.depth());
    Forward forward;
    forward.activations.resize(depth + 1);
    forward.kept.resize(depth + 1);
    forward.masks.resize(depth + 1);
    for (int l = 1; l <= builder.depth(); ++l) {
        Copies& input = forward.activations[static_cast<std::size_t>(l - 1)];
        const Place wanted = operand_place(builder.forward(l));
        const TensorId operand =
            l == 1 ? input_at(builder, input, wanted, training)
                   : builder.at(input, wanted, numbered("forward.", l) + ".input", numbered("H", l - 1));
        if (training && l > 1) prepare_backward(builder, l - 1, forward);
        const TensorId z = product(builder, operand, l, forward);
        builder.activate(numbered("forward.", l) + ".activate", z, l, training);
        forward.activations[static_cast<std::size_t>(l)].add(result_place(builder.forward(l)), z);
    }
    forward.logits = builder.at(forward.activations[depth], Place::r, "forward.logits", "logits");
    return forward;
}

}  // namespace gnnplan::lower
