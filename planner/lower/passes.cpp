#include "planner/lower/passes.hpp"

#include <gnnplan/base/error.hpp>

#include <utility>

namespace gnnplan::lower {
namespace {

TensorId drop_features(Builder& builder, const std::string& step, TensorId in, const std::string& out) {
    const auto keys = builder.draw_keys(in);
    const TensorId dropped = builder.like(out, in);
    builder.step(step, OpKind::dropout, MapStep{MapOp::dropout, in, {}, dropped, 1, Activation::none, true, keys});
    return dropped;
}

// Z of a layer, which the next one adds to its own, has the label of H.
std::string name_of(const Passes& passes, int site) {
    const Site& made = passes.model.at(site);
    const bool sum = made.kind == SiteKind::product && made.maps() && passes.model.result(made.layer) != site;
    return (sum ? "Z" : "H") + passes.rules.label(site);
}

// The features in `place`, dropped while training. Every layout in which they are wanted is filled at load, and so are
// rows of them that are wanted alone.
TensorId features_at(Passes& passes, int site, int space, Place place) {
    Builder& builder = passes.builder;
    Value& value = passes.value(site);
    const bool all = space == builder.space(0);
    Copies& copies = all ? value.copies : value.parts[space];
    if (copies.in(place)) return copies.at(place);
    const Place source = copies.source_for(place);
    if (!passes.rules.places_differ() && copies.in(source)) return copies.at(source);
    TensorId id = builder.features(place, space);
    if (passes.training && passes.model.at(site).dropout > 0 && !passes.rules.configuration().constant_input) {
        const std::string rows = all ? "" : "." + std::to_string(builder.rows_in_space(space));
        const std::string which = rows + suffix(place);
        id = drop_features(builder, "dropout.0" + which, id, "H0.dropped" + which);
    }
    copies.add(place, id);
    return id;
}

}  // namespace

TensorId Passes::fetch(int site, Place place, const std::string& step, OpKind reader) {
    const Site& made = model.at(site);
    if (made.kind == SiteKind::input) return features_at(*this, site, builder.space(0), place);
    return builder.at(value(site).copies, place, step, name_of(*this, site), reader);
}

TensorId Passes::fetch_rows(int site, int l, Place place, const std::string& step, OpKind reader) {
    const Site& made = model.at(site);
    const int space = builder.space(l);
    if (space == builder.space(made.rows_of)) return fetch(site, place, step, reader);
    if (made.kind == SiteKind::input) return features_at(*this, site, space, place);
    const Copies& copies = value(site).copies;
    Copies& part = value(site).parts[space];
    if (!part.in(place)) {
        const std::string name = name_of(*this, site) + "." + std::to_string(builder.rows_in_space(space));
        part.add(place, builder.redistribute(step, copies.at(copies.source_for(place)), place, name, reader, space));
    }
    return part.at(place);
}

std::optional<TensorId> Passes::arrived(int site, const std::string& step) {
    Copies& copies = gradient(site).copies;
    if (copies.empty()) return std::nullopt;
    const TensorId rows = builder.at(copies, Place::r, step, "U" + rules.label(site), OpKind::add);
    copies = Copies();
    copies.add(Place::r, rows);
    return rows;
}

bool Passes::pass_on(int site, Copies part, const std::string& at, const std::string& name) {
    const std::optional<TensorId> others = arrived(site, at + ".sum.redistribute");
    if (others) {
        add_to(builder, at + ".sum", *others, builder.at(part, Place::r, at + ".redistribute", name, OpKind::add));
    } else {
        gradient(site).copies = part;
    }
    return others.has_value();
}

void add_same(Passes& passes, int id) {
    const std::optional<int> same_as = std::exchange(passes.gradient(id).same_as, std::nullopt);
    if (!same_as) return;
    Builder& builder = passes.builder;
    const Site& other = passes.model.at(*same_as);
    builder.begin(Pass::backward, other.layer);
    const std::string at = "backward." + passes.rules.label(*same_as) + ".residual";
    const std::optional<TensorId> sum = passes.arrived(id, at + ".sum.redistribute");
    ensure(sum.has_value(), "what a layer reads has no gradient but its own");
    const TensorId rows = builder.at(passes.gradient(*same_as).copies, Place::r, at + ".redistribute",
                                     "G" + passes.rules.label(*same_as), OpKind::add);
    const TensorId whole =
        builder.redistribute(at + ".rows", rows, Place::r, "G" + passes.rules.label(*same_as) + ".whole", OpKind::add,
                             builder.space(passes.model.at(id).rows_of));
    add_to(builder, at + ".sum", *sum, whole);
}

}  // namespace gnnplan::lower
