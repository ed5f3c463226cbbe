// A^T H W and its gradients: the site whose two products each pass may order as it likes.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// A product with the matrix, with what it adds of the vertices themselves: `own` where the result is, if that is at
// hand.
TensorId multiply(Builder& builder, const std::string& at, const Site& site, bool transposed, TensorId in,
                  const std::string& out, std::optional<TensorId> own = {}) {
    const TensorId sum = builder.spmm(at + ".spmm", site.layer, transposed, in, out);
    if (!site.adds_self()) return sum;
    if (!own) {
        const int space = builder.space(transposed ? site.layer : site.layer - 1);
        own = builder.redistribute(at + ".self.redistribute", in, builder.spmm_out(), out + ".self", OpKind::aggregate,
                                   space);
    }
    builder.add_self(at + ".self", site, sum, *own);
    return sum;
}

// T^l = A^T H^(l-1) in left(site), where the dense product wants it.
TensorId aggregate(Builder& builder, const std::string& at, TensorId input, const Site& site,
                   std::optional<TensorId> own) {
    const std::string name = numbered("T", site.layer);
    const TensorId aggregated = multiply(builder, at, site, true, input, name, own);
    return builder.redistribute(at + ".redistribute", aggregated, builder.gemm_in(site), name, OpKind::linear);
}

// Forward S: H -> spmm -> T -> gemm -> Z. Forward D: H -> gemm -> B -> spmm -> Z; redistributed wherever a product
// wants its operand elsewhere.
TensorId product(Passes& passes, const Site& site, TensorId input, Value& made) {
    Builder& builder = passes.builder;
    const int l = site.layer;
    const std::string at = numbered("forward.", l);
    if (builder.forward(l) == Order::sparse_first) {
        std::optional<TensorId> own;
        if (site.adds_self())
            own = passes.fetch_rows(site.input, l, builder.spmm_out(), at + ".self.redistribute", OpKind::aggregate);
        const TensorId rows = aggregate(builder, at, input, site, own);
        if (builder.operand(l) == Operand::product) made.kept = rows;
        return builder.gemm(at + ".gemm", rows, site, false, numbered("Z", l));
    }
    const TensorId combined = builder.gemm(at + ".gemm", input, site, false, numbered("B", l));
    made.mapped = combined;
    const TensorId columns =
        builder.redistribute(at + ".redistribute", combined, builder.spmm_in(), numbered("B", l), OpKind::aggregate);
    return multiply(builder, at, site, true, columns, numbered("Z", l));
}

// The operands of a product's weight gradient Y^l = (T^l)^T G^l = (H^(l-1))^T (A G^l), moved or made where they are
// missing.
class WeightGradient {
public:
    WeightGradient(Passes& passes, int site)
        : passes_(passes), builder_(passes.builder), id_(site), site_(passes.model.at(site)), l_(site_.layer) {}

    TensorId emit() {
        if (builder_.operand(l_) == Operand::product) {
            const auto kept = passes_.value(id_).kept;
            const TensorId left = kept ? *kept : aggregate_again(true);
            return grad(left, gradient_at(builder_.right(site_)));
        }
        const TensorId left = input(builder_.left(site_));
        const auto aggregated = passes_.gradient(id_).aggregated;
        return grad(left, aggregated ? *aggregated : aggregate_again(false));
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
        return builder_.weight_grad(at() + ".weight_grad", left, right, id_);
    }
    TensorId gradient_at(Place place) {
        const Moving moving(builder_, l_);
        return builder_.at(passes_.gradient(id_).copies, place, at() + ".operand.G", numbered("G", l_), OpKind::linear);
    }
    TensorId input(Place place) {
        const Moving moving(builder_, l_);
        return passes_.fetch(site_.input, place, at() + ".operand.H", OpKind::linear);
    }

    // A product that neither pass has left: T^l again, or A G^l. The paper counts it there and back from R, whether the
    // operand is in C or not.
    TensorId aggregate_again(bool transposed) {
        const std::string name = numbered(transposed ? "again.T" : "again.AG", l_);
        const Place place = builder_.spmm_in();
        TensorId operand = 0;
        if (paper_semantics(builder_.configuration())) {
            const TensorId rows = transposed ? input(Place::r) : gradient_at(Place::r);
            operand = builder_.redistribute(at() + ".again.to_c", rows, place, name + ".in", OpKind::aggregate);
        } else {
            operand = transposed ? input(place) : gradient_at(place);
        }
        const TensorId product = multiply(builder_, at() + ".again", site_, transposed, operand, name);
        const Place wanted = transposed ? builder_.left(site_) : builder_.right(site_);
        return builder_.redistribute(at() + ".again.to_r", product, wanted, name, OpKind::linear);
    }

    Passes& passes_;
    Builder& builder_;
    int id_;
    const Site& site_;
    int l_;
};

// The first product of a backward pass: A G^l, or G^l (W^l)^T.
TensorId first_product(Builder& builder, const Site& site, Gradient& gradient) {
    const int l = site.layer;
    const std::string at = numbered("backward.", l);
    const TensorId operand = builder.at(gradient.copies, builder.gradient_wanted(site), at + ".input", numbered("G", l),
                                        first_operation(builder.backward(l)));
    if (builder.backward(l) == Order::dense_first) {
        return builder.gemm(at + ".gemm", operand, site, true, numbered("D", l));
    }
    const TensorId aggregated = multiply(builder, at, site, false, operand, numbered("AG", l));
    gradient.aggregated =
        builder.redistribute(at + ".redistribute", aggregated, Place::r, numbered("AG", l), OpKind::linear);
    return *gradient.aggregated;
}

// The second product of a backward pass that began with G W^T: A D.
TensorId aggregate_gradient(Builder& builder, const Site& site, Gradient& gradient) {
    const int l = site.layer;
    const std::string at = numbered("backward.", l);
    const TensorId combined = first_product(builder, site, gradient);
    gradient.mapped = combined;
    const TensorId columns =
        builder.redistribute(at + ".redistribute", combined, builder.spmm_in(), numbered("D", l), OpKind::aggregate);
    return multiply(builder, at, site, false, columns, "U" + builder.label(site.input));
}

// U^(l-1) by the pass's order; `first` is its first product if that has been made. The gradients that other sites have
// left in R are added.
void pass_on(Passes& passes, const Site& site, std::optional<TensorId> first, Gradient& gradient) {
    Builder& builder = passes.builder;
    const std::string at = numbered("backward.", site.layer);
    const std::string name = "U" + builder.label(site.input);
    Copies& passed = passes.gradient(site.input).copies;
    const bool others = passed.in(Place::r);
    if (first) {
        if (others) return builder.gemm_onto(at + ".gemm", *first, site, true, passed.at(Place::r));
        return passed.add(Place::r, builder.gemm(at + ".gemm", *first, site, true, name));
    }
    const TensorId unmasked = aggregate_gradient(builder, site, gradient);
    if (!others) return passed.add(builder.spmm_out(), unmasked);
    const TensorId moved = builder.redistribute(at + ".sum.redistribute", unmasked, Place::r, name, OpKind::add);
    builder.add_to(at + ".sum", passed.at(Place::r), moved);
}

// dL/de = <G W^T, H> = <G, H W>, with the one that a pass has left, else with the first, made for this.
void update_epsilon(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("backward.", l) + ".epsilon";
    Gradient& gradient = passes.gradient(id);
    const auto gradient_in = [&](Place place) {
        return builder.at(gradient.copies, place, at + ".G", numbered("G", l), OpKind::aggregate);
    };
    if (passes.value(id).mapped) {
        const Place place = builder.gemm_out(site);
        const TensorId mapped = builder.redistribute(at + ".redistribute", *passes.value(id).mapped, place,
                                                     numbered("B", l) + ".own", OpKind::aggregate, builder.space(l));
        return builder.update_epsilon(at, site, gradient_in(place), mapped);
    }
    if (!gradient.mapped)
        gradient.mapped = builder.gemm(at + ".gemm", gradient_in(Place::r), site, true, numbered("D", l));
    const TensorId own = passes.fetch_rows(site.input, l, Place::r, at + ".operand.H", OpKind::aggregate);
    builder.update_epsilon(at, site, *gradient.mapped, own);
}

}  // namespace

std::optional<TensorId> lower_setup(Builder& builder) {
    if (!builder.configuration().cached_aggregation) return std::nullopt;
    builder.begin_phase(Phase::setup);
    builder.begin(Pass::forward, 1);
    const Site& site = builder.model().product(1);
    const TensorId input = builder.features(builder.spmm_in(), 0);
    std::optional<TensorId> cached;
    if (site.reorderable()) {
        std::optional<TensorId> own;
        if (site.adds_self()) own = builder.features(builder.spmm_out(), builder.space(1));
        cached = aggregate(builder, "setup.1", input, site, own);
    } else {
        cached = builder.redistribute("setup.1.redistribute", builder.spmm_max("setup.1.spmm", 1, input, "T1").values,
                                      builder.gemm_in(site), "T1", OpKind::linear);
    }
    builder.cache(*cached);
    return cached;
}

void forward_product(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    Value& made = passes.value(id);
    builder.begin(Pass::forward, l);
    TensorId z = 0;
    if (l == 1 && passes.cached) {
        made.kept = passes.cached;
        z = builder.gemm("forward.1.gemm", *passes.cached, site, false, "Z1");
    } else {
        const TensorId operand = passes.fetch(site.input, builder.wanted_by(site), numbered("forward.", l) + ".input",
                                              first_operation(builder.forward(l)));
        prepare_backward(passes, site.input);
        builder.begin(Pass::forward, l);
        z = product(passes, site, operand, made);
    }
    made.copies.add(builder.made_in(id), z);
}

// The weight's gradient and update, and U^(l-1), before the mask, unless nobody needs it. Between the two products of U
// the weight gradient takes what it needs.
void backward_product(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    Gradient& gradient = passes.gradient(id);
    builder.begin(Pass::backward, l);
    const Order order = builder.backward(l);
    // The paper makes the dense product after the weight gradient: its result then lives shorter.
    std::optional<TensorId> first;
    if (order == Order::sparse_first) first = first_product(builder, site, gradient);
    if (order == Order::dense_first)
        builder.at(gradient.copies, Place::r, numbered("backward.", l) + ".input", numbered("G", l), OpKind::linear);
    const TensorId weight_gradient = WeightGradient(passes, id).emit();
    bias_gradient(passes, gradient);
    if (order != Order::none) pass_on(passes, site, first, gradient);
    if (site.self_parameter >= 0) update_epsilon(passes, id);
    builder.reduce_and_update(builder.weight(site), weight_gradient, OpKind::linear);
}

}  // namespace gnnplan::lower
