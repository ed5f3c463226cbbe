// Aggregations without a linear map: Z = A^T H, or what several of them make of H (aggregation.hpp).
#include "planner/lower/aggregation.hpp"
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {

void forward_propagation(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
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
    builder.begin(Pass::backward, site.layer);
    Gradient& gradient = passes.gradient(id);
    const TensorId g =
        builder.at(gradient.copies, rules.spmm_in(), at + ".input", numbered("G", site.layer), OpKind::aggregate);
    bias_gradient(passes, gradient);
    if (passes.model.at(site.input).kind == SiteKind::input) return;
    const TensorId made = multiply(builder, at, site, Direction::backward, g, name);
    const std::optional<TensorId> others = passes.arrived(site.input, at + ".arrived.redistribute");
    if (!others) return passes.gradient(site.input).copies.add(rules.spmm_out(), made);
    add_to(builder, at + ".sum", *others,
           builder.redistribute(at + ".sum.redistribute", made, Place::r, name, OpKind::add));
}

}  // namespace gnnplan::lower
