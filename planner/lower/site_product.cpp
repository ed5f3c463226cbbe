// A^T H W and its gradients: the site whose two products each pass may order as it likes.
#include "planner/lower/aggregation.hpp"
#include "planner/lower/initial.hpp"
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// T^l = A^T H^(l-1) in left(site), where the dense product wants it.
TensorId aggregate(Builder& builder, const std::string& at, TensorId input, const Site& site,
                   std::optional<TensorId> own) {
    const Rules& rules = builder.rules();
    const std::string name = numbered("T", site.layer);
    const TensorId aggregated = multiply(builder, at, site, Direction::forward, input, name, own);
    return builder.redistribute(at + ".redistribute", aggregated, rules.gemm_in(site), name, OpKind::linear);
}

// Forward S: H -> spmm -> T -> gemm -> Z. Forward D: H -> gemm -> B -> spmm -> Z; redistributed wherever a product
// wants its operand elsewhere.
std::optional<TensorId> product(Passes& passes, int id, TensorId input, Value& made) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("forward.", l);
    const bool wants_operand = rules.operand(l) == Operand::product;
    if (rules.forward(l) == Order::sparse_first) {
        std::optional<TensorId> own;
        if (site.adds_self())
            own = passes.fetch_rows(site.input, l, rules.spmm_out(), at + ".self.redistribute", OpKind::aggregate);
        const TensorId rows = aggregate(builder, at, input, site, own);
        if (site.initial >= 0) add_initial(passes, site, rows);
        if (wants_operand) made.kept = rows;
        if (!passes.wants(id)) return std::nullopt;
        return gemm(builder, at + ".gemm", rows, site, Direction::forward, numbered("Z", l));
    }
    const TensorId combined = gemm(builder, at + ".gemm", input, site, Direction::forward, numbered("B", l));
    made.mapped = combined;
    if (!passes.wants(id)) return std::nullopt;
    const TensorId columns =
        builder.redistribute(at + ".redistribute", combined, rules.spmm_in(), numbered("B", l), OpKind::aggregate);
    return multiply(builder, at, site, Direction::forward, columns, numbered("Z", l));
}

// The operands of a product's weight gradient Y^l = (T^l)^T G^l = (H^(l-1))^T (A G^l), moved or made where they are
// missing.
class WeightGradient : SitePass {
public:
    WeightGradient(Passes& passes, int site) : SitePass(passes, site) {}

    TensorId emit() {
        if (rules_.operand(l_) == Operand::product) {
            const auto kept = passes_.value(id_).kept;
            const TensorId left = kept ? *kept : aggregate_again(Direction::forward);
            return grad(left, gradient_at(rules_.right(site_)));
        }
        const TensorId left = input(rules_.left(site_));
        const auto aggregated = passes_.gradient(id_).aggregated;
        return grad(left, aggregated ? *aggregated : aggregate_again(Direction::backward));
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
        return weight_grad(builder_, at() + ".weight_grad", left, right, id_);
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
    TensorId aggregate_again(Direction direction) {
        const bool forward = direction == Direction::forward;
        const std::string name = numbered(forward ? "again.T" : "again.AG", l_);
        const Place place = rules_.spmm_in();
        TensorId operand = 0;
        if (paper_semantics(rules_.model(), rules_.configuration())) {
            const TensorId rows = forward ? input(Place::r) : gradient_at(Place::r);
            operand = builder_.redistribute(at() + ".again.to_c", rows, place, name + ".in", OpKind::aggregate);
        } else {
            operand = forward ? input(place) : gradient_at(place);
        }
        const TensorId product = multiply(builder_, at() + ".again", site_, direction, operand, name);
        const Place wanted = forward ? rules_.left(site_) : rules_.right(site_);
        return builder_.redistribute(at() + ".again.to_r", product, wanted, name, OpKind::linear);
    }
};

// The first product of a backward pass: A G^l, or G^l (W^l)^T.
TensorId first_product(Builder& builder, const Site& site, Gradient& gradient) {
    const Rules& rules = builder.rules();
    const int l = site.layer;
    const std::string at = numbered("backward.", l);
    const TensorId operand = builder.at(gradient.copies, rules.gradient_wanted(site), at + ".input", numbered("G", l),
                                        first_operation(rules.backward(l)));
    if (rules.backward(l) == Order::dense_first) {
        return gemm(builder, at + ".gemm", operand, site, Direction::backward, numbered("D", l));
    }
    const TensorId aggregated = multiply(builder, at, site, Direction::backward, operand, numbered("AG", l));
    gradient.aggregated =
        builder.redistribute(at + ".redistribute", aggregated, Place::r, numbered("AG", l), OpKind::linear);
    return *gradient.aggregated;
}

// The second product of a backward pass that began with G W^T: A D.
TensorId aggregate_gradient(Passes& passes, const Site& site, Gradient& gradient) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const int l = site.layer;
    const std::string at = numbered("backward.", l);
    const TensorId combined = first_product(builder, site, gradient);
    gradient.mapped = combined;
    if (site.initial >= 0) backward_initial(passes, site, combined);
    const TensorId columns =
        builder.redistribute(at + ".redistribute", combined, rules.spmm_in(), numbered("D", l), OpKind::aggregate);
    return multiply(builder, at, site, Direction::backward, columns, "U" + rules.label(site.input));
}

// U^(l-1) by the pass's order; `first` is its first product if that has been made. The gradients that other sites have
// left in R are added.
void pass_on(Passes& passes, const Site& site, std::optional<TensorId> first, Gradient& gradient) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const std::string at = numbered("backward.", site.layer);
    const std::string name = "U" + rules.label(site.input);
    Copies& passed = passes.gradient(site.input).copies;
    const bool others = passed.in(Place::r);
    if (first) {
        if (others) return gemm_onto(builder, at + ".gemm", *first, site, Direction::backward, passed.at(Place::r));
        return passed.add(Place::r, gemm(builder, at + ".gemm", *first, site, Direction::backward, name));
    }
    const TensorId unmasked = aggregate_gradient(passes, site, gradient);
    if (!others) return passed.add(rules.spmm_out(), unmasked);
    const TensorId moved = builder.redistribute(at + ".sum.redistribute", unmasked, Place::r, name, OpKind::add);
    add_to(builder, at + ".sum", passed.at(Place::r), moved);
}

// dL/de = <G W^T, H> = <G, H W>, with the one that a pass has left, else with the first, made for this.
void backward_epsilon(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    const std::string at = numbered("backward.", l) + ".epsilon";
    Gradient& gradient = passes.gradient(id);
    const auto gradient_in = [&](Place place) {
        return builder.at(gradient.copies, place, at + ".G", numbered("G", l), OpKind::aggregate);
    };
    if (passes.value(id).mapped) {
        const Place place = rules.gemm_out(site);
        const TensorId mapped = builder.redistribute(at + ".redistribute", *passes.value(id).mapped, place,
                                                     numbered("B", l) + ".own", OpKind::aggregate, builder.space(l));
        return update_epsilon(builder, at, site, gradient_in(place), mapped);
    }
    if (!gradient.mapped)
        gradient.mapped =
            gemm(builder, at + ".gemm", gradient_in(Place::r), site, Direction::backward, numbered("D", l));
    const TensorId own = passes.fetch_rows(site.input, l, Place::r, at + ".operand.H", OpKind::aggregate);
    update_epsilon(builder, at, site, *gradient.mapped, own);
}

// Whether anybody needs the site's value, or an operand of a gradient that is made on the way to it.
bool makes_operand(const Passes& passes, int id) {
    const Site& site = passes.model.at(id);
    const bool aggregates_first = passes.rules.forward(site.layer) == Order::sparse_first;
    const bool of_weight = aggregates_first && passes.rules.operand(site.layer) == Operand::product;
    return passes.wants(id) || of_weight || (!aggregates_first && site.self_parameter >= 0);
}

}  // namespace

TensorId setup_product(Builder& builder, const Site& site) {
    const Rules& rules = builder.rules();
    const TensorId input = builder.features(rules.spmm_in(), builder.space(0));
    std::optional<TensorId> own;
    if (site.adds_self()) own = builder.features(rules.spmm_out(), builder.space(1));
    return aggregate(builder, "setup.1", input, site, own);
}

void forward_product(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    Value& made = passes.value(id);
    builder.begin(Pass::forward, l);
    std::optional<TensorId> z;
    made.kept = passes.kept_of(id);
    if (made.kept) {
        if (passes.wants(id)) z = gemm(builder, "forward.1.gemm", *made.kept, site, Direction::forward, "Z1");
    } else if (!makes_operand(passes, id)) {
        prepare_backward(passes, site.input);
    } else {
        const TensorId operand = passes.fetch(site.input, rules.wanted_by(site), numbered("forward.", l) + ".input",
                                              first_operation(rules.forward(l)));
        prepare_backward(passes, site.input);
        builder.begin(Pass::forward, l);
        z = product(passes, id, operand, made);
    }
    if (z) made.copies.add(rules.made_in(id), *z);
}

// The weight's gradient and update, and U^(l-1), before the mask, unless nobody needs it. Between the two products of U
// the weight gradient takes what it needs.
void backward_product(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const int l = site.layer;
    Gradient& gradient = passes.gradient(id);
    builder.begin(Pass::backward, l);
    const Order order = rules.backward(l);
    // The paper makes the dense product after the weight gradient: its result then lives shorter.
    std::optional<TensorId> first;
    if (order == Order::sparse_first) first = first_product(builder, site, gradient);
    if (order == Order::dense_first)
        builder.at(gradient.copies, Place::r, numbered("backward.", l) + ".input", numbered("G", l), OpKind::linear);
    const TensorId weight_gradient = WeightGradient(passes, id).emit();
    bias_gradient(passes, gradient);
    if (order != Order::none) pass_on(passes, site, first, gradient);
    if (site.self_parameter >= 0) backward_epsilon(passes, id);
    update_weight(builder, site, weight_gradient);
}

}  // namespace gnnplan::lower
