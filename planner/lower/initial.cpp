#include "planner/lower/initial.hpp"

#include "planner/lower/dense.hpp"

namespace gnnplan::lower {
namespace {

// How much of the value that a product adds comes on top of A^T H; its weight has the rest (dense.cpp).
double share_of_initial(const Site& site) { return site.teleport / (1 - site.teleport); }

}  // namespace

void add_initial(Passes& passes, const Site& site, TensorId aggregated) {
    const std::string at = numbered("forward.", site.layer) + ".initial";
    const TensorId added =
        passes.fetch_rows(site.initial, site.layer, passes.rules.gemm_in(site), at + ".redistribute", OpKind::add);
    add_scaled(passes.builder, at, share_of_initial(site), aggregated, added);
}

void backward_initial(Passes& passes, const Site& site, TensorId mapped) {
    if (passes.model.of_features(site.initial)) return;
    Builder& builder = passes.builder;
    const std::string at = numbered("backward.", site.layer) + ".initial";
    const std::string name = "U" + passes.rules.label(site.initial);
    const std::optional<TensorId> others = passes.arrived(site.initial, at + ".sum.redistribute");
    const TensorId whole =
        builder.redistribute(at + ".redistribute", mapped, Place::r, name + numbered(".", site.layer), OpKind::add,
                             builder.space(passes.model.at(site.initial).rows_of));
    if (others) return add_scaled(builder, at, share_of_initial(site), *others, whole);
    passes.gradient(site.initial)
        .copies.add(Place::r, scaled(builder, at, share_of_initial(site), whole, name + ".sum", OpKind::add));
}

}  // namespace gnnplan::lower
