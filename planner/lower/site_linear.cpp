// H W, or Z + H W or Z + H in place of Z, and their gradients: a linear map that no aggregation is beside.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// Z + H: what the layer read is added to what it has made, where that is.
void add_input(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const std::string at = "forward." + rules.label(id);
    builder.begin(Pass::forward, site.layer);
    const Place place = rules.made_in(id);
    const TensorId sum = passes.value(site.addend).copies.at(place);
    const TensorId own = passes.fetch_rows(site.input, site.rows_of, place, at + ".redistribute", OpKind::add);
    prepare_backward(passes, site.input);
    builder.begin(Pass::forward, site.layer);
    add_to(builder, at + ".sum", sum, own);
    passes.value(id).copies.add(place, sum);
}

// The gradient of the sum is that of both.
void share_gradient(Passes& passes, int id) {
    const Site& site = passes.model.at(id);
    passes.gradient(site.addend) = passes.gradient(id);
    if (passes.model.of_features(site.input)) return;
    int made_first = site.addend;
    while (passes.model.at(made_first).addend >= 0) made_first = passes.model.at(made_first).addend;
    passes.gradient(site.input).same_as = made_first;
}

}  // namespace

// A sum is made by the product itself where Z rests where the product leaves its result.
void forward_linear(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    if (site.parameter < 0) return add_input(passes, id);
    const std::string label = rules.label(id);
    const std::string at = "forward." + label;
    Value& made = passes.value(id);
    builder.begin(Pass::forward, site.layer);
    const TensorId operand =
        passes.fetch_rows(site.input, site.rows_of, rules.gemm_in(site), at + ".input", OpKind::linear);
    // Whoever reads all rows comes after one that reads fewer, and leaves the copies that masks are taken from.
    if (builder.space(passes.model.at(site.input).rows_of) == builder.space(site.rows_of))
        prepare_backward(passes, site.input);
    builder.begin(Pass::forward, site.layer);
    const Place place = rules.made_in(id);
    if (site.addend < 0)
        return made.copies.add(place, gemm(builder, at + ".gemm", operand, site, Direction::forward, "Z" + label));
    const TensorId sum = builder.at(passes.value(site.addend).copies, place, at + ".sum.redistribute",
                                    "Z" + rules.label(site.addend), OpKind::add);
    if (place == rules.gemm_out(site) || !rules.places_differ()) {
        gemm_onto(builder, at + ".gemm", operand, site, Direction::forward, sum);
    } else {
        const TensorId own = gemm(builder, at + ".gemm", operand, site, Direction::forward, "Z" + label);
        add_to(builder, at + ".sum", sum,
               builder.redistribute(at + ".redistribute", own, place, "Z" + label, OpKind::add));
    }
    made.copies.add(place, sum);
}

// The weight's gradient and update, and what dL/dH gets of it; what the product is added to has the same gradient.
void backward_linear(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    if (site.parameter < 0) return share_gradient(passes, id);
    const std::string label = rules.label(id);
    const std::string at = "backward." + label;
    Gradient& gradient = passes.gradient(id);
    const std::string name = "G" + label;
    builder.begin(Pass::backward, site.layer);
    const TensorId right = builder.at(gradient.copies, rules.right(site), at + ".input", name, OpKind::linear);
    const TensorId left =
        passes.fetch_rows(site.input, site.rows_of, rules.left(site), at + ".operand.H", OpKind::linear);
    const TensorId weight_gradient = weight_grad(builder, at + ".weight_grad", left, right, id);
    bias_gradient(passes, gradient);
    const Site& read = passes.model.at(site.input);
    if (!passes.model.of_features(site.input)) {
        const TensorId rows = builder.at(gradient.copies, Place::r, at + ".input.rows", name, OpKind::linear);
        const std::optional<TensorId> others = passes.arrived(site.input, at + ".sum.redistribute");
        const bool all_rows = builder.space(read.rows_of) == builder.space(site.rows_of);
        if (others && all_rows) {
            gemm_onto(builder, at + ".gemm", rows, site, Direction::backward, *others);
        } else {
            const TensorId part = gemm(builder, at + ".gemm", rows, site, Direction::backward, "U" + label);
            const TensorId whole = builder.redistribute(at + ".redistribute", part, Place::r, "U" + label + ".whole",
                                                        OpKind::add, builder.space(read.rows_of));
            others ? add_to(builder, at + ".sum", *others, whole)
                   : passes.gradient(site.input).copies.add(Place::r, whole);
        }
    }
    if (site.addend >= 0) passes.gradient(site.addend).copies = gradient.copies;
    update_weight(builder, site, weight_gradient);
}

}  // namespace gnnplan::lower
