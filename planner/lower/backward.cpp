#include "planner/lower/builder.hpp"

#include <algorithm>

namespace gnnplan::lower {
namespace {

// What layer l's backward pass has at hand.
struct Gradients {
    Copies masked;                       // G^l
    std::optional<TensorId> aggregated;  // A G^l in R, after a backward S
};

// Y^l = (H^(l-1))^T (A G^l) = (T^l)^T G^l, from whatever is in R; with D in both passes one of the two products is made
// again, the narrower one, there and back as the paper counts it.
TensorId weight_gradient(Builder& builder, int l, Forward& forward, Gradients& gradients) {
    const std::string at = numbered("backward.", l);
    Copies& input = forward.activations[static_cast<std::size_t>(l - 1)];
    const auto gradient_in_r = [&] {
        return builder.at(gradients.masked, Place::r, at + ".operand", numbered("G", l));
    };
    const auto input_in_r = [&] {
        return l == 1 ? input_at(builder, input, Place::r, true)
                      : builder.at(input, Place::r, at + ".operand", numbered("H", l - 1));
    };
    const auto again = [&](TensorId rows, bool transposed, const std::string& name) {
        const TensorId columns = builder.redistribute(at + ".again.to_c", rows, Place::c, name + ".in");
        const TensorId product = builder.spmm(at + ".again.spmm", transposed, columns, name);
        return builder.redistribute(at + ".again.to_r", product, Place::r, name);
    };
    if (const auto kept = forward.kept[static_cast<std::size_t>(l)]) {
        const TensorId right = gradient_in_r();
        return builder.weight_grad(at + ".weight_grad", *kept, right, l);
    }
    if (gradients.aggregated) {
        const TensorId left = input_in_r();
        return builder.weight_grad(at + ".weight_grad", left, *gradients.aggregated, l);
    }
    const TensorId left = input_in_r();
    const TensorId right = gradient_in_r();
    if (builder.layer(l).in_width <= builder.layer(l).out_width) {
        const TensorId aggregated = again(left, true, numbered("again.T", l));
        return builder.weight_grad(at + ".weight_grad", aggregated, right, l);
    }
    const TensorId aggregated = again(right, false, numbered("again.AG", l));
    return builder.weight_grad(at + ".weight_grad", left, aggregated, l);
}

void reduce_and_update(Builder& builder, int l, TensorId gradient, bool of_bias) {
    const std::string name = numbered(of_bias ? "b" : "W", l);
    builder.all_reduce("all_reduce." + name, gradient);
    builder.update(l, gradient, of_bias);
}

void bias_gradient(Builder& builder, int l, const Copies& g) {
    if (!builder.layer(l).bias) return;
    const TensorId source = g.in(Place::r) ? g.at(Place::r) : g.at(Place::c);
    reduce_and_update(builder, l, builder.column_sum(numbered("backward.", l) + ".bias_grad", source, l), true);
}

// U^(l-1), before the mask. Backward S: G in C -> spmm -> AG -> R -> gemm -> U in R. Backward D: G in R -> gemm -> D ->
// C -> spmm -> U in C. Between the two products the weight gradient takes what it needs.
TensorId input_gradient(Builder& builder, int l, Forward& forward, Gradients& gradients) {
    const std::string at = numbered("backward.", l);
    const TensorId operand =
        builder.at(gradients.masked, operand_place(builder.backward(l)), at + ".input", numbered("G", l));
    if (builder.backward(l) == Order::sparse_first) {
        const TensorId aggregated = builder.spmm(at + ".spmm", false, operand, numbered("AG", l));
        gradients.aggregated = builder.redistribute(at + ".redistribute", aggregated, Place::r, numbered("AG", l));
    }
    const TensorId weight_grad = weight_gradient(builder, l, forward, gradients);
    bias_gradient(builder, l, gradients.masked);
    TensorId gradient = 0;
    if (builder.backward(l) == Order::sparse_first) {
        gradient = builder.gemm(at + ".gemm", *gradients.aggregated, l, true, numbered("U", l - 1));
    } else {
        const TensorId combined = builder.gemm(at + ".gemm", operand, l, true, numbered("D", l));
        const TensorId columns = builder.redistribute(at + ".redistribute", combined, Place::c, numbered("D", l));
        gradient = builder.spmm(at + ".spmm", false, columns, numbered("U", l - 1));
    }
    reduce_and_update(builder, l, weight_grad, false);
    return gradient;
}

// G^l = U^l masked, by the rule for its mask.
Copies masked_gradient(Builder& builder, int l, TensorId unmasked, Forward& forward) {
    const MaskRule rule = mask_rule(builder, l);
    Copies gradient;
    gradient.add(result_place(builder.backward(l + 1)), unmasked);
    Place place = result_place(builder.backward(l + 1));
    if (rule.delayed) {
        const TensorId moved = builder.at(gradient, rule.at, numbered("backward.", l) + ".input", numbered("G", l));
        place = rule.at;
        gradient = Copies();
        gradient.add(place, moved);
    }
    builder.apply_mask(numbered("backward.", l) + ".mask", gradient.at(place),
                       forward.masks[static_cast<std::size_t>(l)].at(rule.at), l + 1);
    return gradient;
}

}  // namespace

void lower_backward(Builder& builder, Forward& forward) {
    builder.loss(forward.logits);
    Gradients gradients;
    gradients.masked.add(Place::r, forward.logits);
    for (int l = builder.depth(); l >= 1; --l) {
        const TensorId unmasked = input_gradient(builder, l, forward, gradients);
        if (l == 1) break;
        gradients = Gradients();
        gradients.masked = masked_gradient(builder, l - 1, unmasked, forward);
    }
}

}  // namespace gnnplan::lower
