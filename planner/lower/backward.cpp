#include "planner/lower/builder.hpp"

namespace gnnplan::lower {
namespace {

// What layer l's backward pass has at hand.
struct Gradients {
    Copies masked;                       // G^l
    std::optional<TensorId> aggregated;  // A G^l in right(l), after a backward S
};

// The operands of layer l's weight gradient Y^l = (T^l)^T G^l = (H^(l-1))^T (A G^l), moved or made where they are
// missing.
class WeightGradient {
public:
    WeightGradient(Builder& builder, int l, Forward& forward, Gradients& gradients)
        : builder_(builder), l_(l), forward_(forward), gradients_(gradients) {}

    TensorId emit() {
        if (builder_.operand(l_) == Operand::product) {
            const auto kept = forward_.kept[static_cast<std::size_t>(l_)];
            const TensorId left = kept ? *kept : again(true);
            return grad(left, gradient_at(builder_.right(l_)));
        }
        if (gradients_.aggregated) {
            const TensorId left = input(builder_.left(l_));
            return grad(left, *gradients_.aggregated);
        }
        const TensorId left = input(builder_.left(l_));
        return grad(left, again(false));
    }

private:
    // While it lives, what is moved is moved just to be an operand.
    struct Moving {
        Moving(Builder& to, int l) : builder(to), layer(l) { builder.begin(Pass::keep, layer); }
        ~Moving() { builder.begin(Pass::backward, layer); }
        Moving(const Moving&) = delete;
        Moving& operator=(const Moving&) = delete;
        Builder& builder;
        int layer;
    };

    std::string at() const { return numbered("backward.", l_); }
    TensorId grad(TensorId left, TensorId right) {
        return builder_.weight_grad(at() + ".weight_grad", left, right, l_);
    }
    TensorId gradient_at(Place place) {
        const Moving moving(builder_, l_);
        return builder_.at(gradients_.masked, place, at() + ".operand.G", numbered("G", l_), OpKind::linear);
    }
    TensorId input(Place place) {
        const Moving moving(builder_, l_);
        Copies& copies = forward_.activations[static_cast<std::size_t>(l_ - 1)];
        return l_ == 1 ? input_at(builder_, copies, place, true)
                       : builder_.at(copies, place, at() + ".operand.H", numbered("H", l_ - 1), OpKind::linear);
    }

    // A product that neither pass has left: T^l again, or A G^l. The paper counts it there and back from R, whether the
    // operand is in C or not.
    TensorId again(bool transposed) {
        const std::string name = numbered(transposed ? "again.T" : "again.AG", l_);
        const Place place = builder_.spmm_in();
        TensorId operand = 0;
        if (paper_semantics(builder_.configuration())) {
            const TensorId rows = transposed ? input(Place::r) : gradient_at(Place::r);
            operand = builder_.redistribute(at() + ".again.to_c", rows, place, name + ".in", OpKind::aggregate);
        } else {
            operand = transposed ? input(place) : gradient_at(place);
        }
        const TensorId product = builder_.spmm(at() + ".again.spmm", l_, transposed, operand, name);
        const Place wanted = transposed ? builder_.left(l_) : builder_.right(l_);
        return builder_.redistribute(at() + ".again.to_r", product, wanted, name, OpKind::linear);
    }

    Builder& builder_;
    int l_;
    Forward& forward_;
    Gradients& gradients_;
};

void reduce_and_update(Builder& builder, int l, TensorId gradient, bool of_bias) {
    const std::string name = numbered(of_bias ? "b" : "W", l);
    builder.all_reduce("all_reduce." + name, gradient, of_bias ? OpKind::bias : OpKind::linear);
    builder.begin(Pass::update, l);
    builder.update(l, gradient, of_bias);
    builder.begin(Pass::backward, l);
}

// Of G^l where its rows count once.
void bias_gradient(Builder& builder, int l, const Copies& g) {
    if (!builder.layer(l).bias) return;
    const TensorId source = g.in(Place::r) ? g.at(Place::r) : g.at(Place::c);
    reduce_and_update(builder, l, builder.column_sum(numbered("backward.", l) + ".bias_grad", source, l), true);
}

// The first product of a backward pass: A G^l, or G^l (W^l)^T.
TensorId first_product(Builder& builder, int l, Gradients& gradients) {
    const std::string at = numbered("backward.", l);
    const TensorId operand = builder.at(gradients.masked, builder.gradient_wanted(l), at + ".input", numbered("G", l),
                                        first_operation(builder.backward(l)));
    if (builder.backward(l) == Order::dense_first) {
        return builder.gemm(at + ".gemm", operand, l, true, numbered("D", l));
    }
    const TensorId aggregated = builder.spmm(at + ".spmm", l, false, operand, numbered("AG", l));
    gradients.aggregated =
        builder.redistribute(at + ".redistribute", aggregated, Place::r, numbered("AG", l), OpKind::linear);
    return *gradients.aggregated;
}

// Layer l's gradients and updates; U^(l-1), before the mask, unless nobody needs it. Between the two products of U the
// weight gradient takes what it needs.
std::optional<TensorId> layer_gradients(Builder& builder, int l, Forward& forward, Gradients& gradients) {
    builder.begin(Pass::backward, l);
    const std::string at = numbered("backward.", l);
    const Order order = builder.backward(l);
    // The paper makes the dense product after the weight gradient: its result then lives shorter.
    std::optional<TensorId> first;
    if (order == Order::sparse_first) first = first_product(builder, l, gradients);
    if (order == Order::dense_first)
        builder.at(gradients.masked, Place::r, at + ".input", numbered("G", l), OpKind::linear);
    const TensorId weight_grad = WeightGradient(builder, l, forward, gradients).emit();
    bias_gradient(builder, l, gradients.masked);
    std::optional<TensorId> gradient;
    if (order == Order::sparse_first) {
        gradient = builder.gemm(at + ".gemm", *first, l, true, numbered("U", l - 1));
    } else if (order == Order::dense_first) {
        const TensorId combined = first_product(builder, l, gradients);
        const TensorId columns = builder.redistribute(at + ".redistribute", combined, builder.spmm_in(),
                                                      numbered("D", l), OpKind::aggregate);
        gradient = builder.spmm(at + ".spmm", l, false, columns, numbered("U", l - 1));
    }
    reduce_and_update(builder, l, weight_grad, false);
    return gradient;
}

// G^l = U^l masked, by the rule for its mask.
Copies masked_gradient(Builder& builder, int l, TensorId unmasked, Forward& forward) {
    builder.begin(Pass::backward, l);
    const MaskRule rule = mask_rule(builder, l);
    Place place = builder.gradient_born(l + 1);
    Copies gradient;
    gradient.add(place, unmasked);
    if (rule.delayed) {
        const TensorId moved = builder.at(gradient, rule.at, numbered("backward.", l) + ".input", numbered("G", l),
                                          first_operation(builder.backward(l)));
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
    builder.begin(Pass::forward, builder.depth());
    builder.loss(forward.logits);
    Gradients gradients;
    gradients.masked.add(builder.loss_place(), forward.logits);
    for (int l = builder.depth(); l >= 1; --l) {
        const auto unmasked = layer_gradients(builder, l, forward, gradients);
        if (l == 1) break;
        gradients = Gradients();
        gradients.masked = masked_gradient(builder, l - 1, *unmasked, forward);
    }
}

}  // namespace gnnplan::lower
