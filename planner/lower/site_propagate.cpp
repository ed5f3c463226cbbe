// Aggregations without a linear map: Z = A^T H, or what several of them make of H (aggregation.hpp).
#include "planner/lower/aggregation.hpp"
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {

// The products of layers 1 and on, as far as they are of the features alone: each in R, in the rows of the last layer,
// whose linear maps read it.
void setup_propagation(Builder& builder, std::map<int, TensorId>& kept) {
    const Rules& rules = builder.rules();
    const SiteGraph& model = rules.model();
    TensorId read = builder.features(rules.spmm_in(), builder.space(0));
    for (const int id : model.products) {
        if (!model.of_features(id)) return;
        const Site& site = model.at(id);
        const std::string at = numbered("setup.", site.layer), name = numbered("T", site.layer);
        builder.begin(Pass::forward, site.layer);
        const TensorId made = multiply(builder, at, site, Direction::forward, read, name);
        kept[id] = builder.redistribute(at + ".keep", made, Place::r, name + ".kept", OpKind::linear,
                                        builder.space(model.depth));
        read = builder.redistribute(at + ".redistribute", made, rules.spmm_in(), name, OpKind::aggregate);
    }
}

void forward_propagation(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    if (const std::optional<TensorId> kept = passes.kept_of(id)) {
        const int space = builder.space(passes.model.depth);
        Value& value = passes.value(id);
        Copies& rows = space == builder.space(site.rows_of) ? value.copies : value.parts[space];
        return rows.add(Place::r, *kept);
    }
    const std::string at = numbered("forward.", site.layer);
    builder.begin(Pass::forward, site.layer);
    const TensorId read = passes.fetch(site.input, passes.rules.spmm_in(), at + ".input", OpKind::aggregate);
    prepare_backward(passes, site.input);
    builder.begin(Pass::forward, site.layer);
    const TensorId made = multiply(builder, at, site, Direction::forward, read, numbered("Z", site.layer));
    passes.value(id).copies.add(passes.rules.made_in(id), made);
}

void backward_propagation(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Rules& rules = passes.rules;
    const Site& site = passes.model.at(id);
    const std::string at = numbered("backward.", site.layer), name = "U" + rules.label(site.input);
    Gradient& gradient = passes.gradient(id);
    if (gradient.copies.empty()) return;  // nobody has made one: it is of the features
    builder.begin(Pass::backward, site.layer);
    const TensorId g =
        builder.at(gradient.copies, rules.spmm_in(), at + ".input", numbered("G", site.layer), OpKind::aggregate);
    bias_gradient(passes, gradient);
    if (passes.model.of_features(site.input)) return;
    const TensorId made = multiply(builder, at, site, Direction::backward, g, name);
    const std::optional<TensorId> others = passes.arrived(site.input, at + ".arrived.redistribute");
    if (!others) return passes.gradient(site.input).copies.add(rules.spmm_out(), made);
    add_to(builder, at + ".sum", *others,
           builder.redistribute(at + ".sum.redistribute", made, Place::r, name, OpKind::add));
}

}  // namespace gnnplan::lower
