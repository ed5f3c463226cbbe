#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// The features in `place`, dropped while training. Every layout in which they are wanted is filled at load, and so are
// rows of them that are wanted alone.
TensorId features_at(Passes& passes, int site, int space, Place place) {
    Builder& builder = passes.builder;
    Value& value = passes.value(site);
    Copies& copies = space == 0 ? value.copies : value.part;
    if (copies.in(place)) return copies.at(place);
    const Place source = copies.source_for(place);
    if (!builder.places_differ() && copies.in(source)) return copies.at(source);
    TensorId id = builder.features(place, space);
    if (passes.training && passes.model.at(site).dropout > 0 && !builder.configuration().constant_input) {
        const std::string which = (space == 0 ? "" : ".part") + std::string(suffix(place));
        id = builder.dropout_input("dropout.0" + which, id, "H0.dropped" + which);
    }
    copies.add(place, id);
    return id;
}

}  // namespace

TensorId Passes::fetch(int site, Place place, const std::string& step, OpKind reader) {
    const Site& made = model.at(site);
    if (made.kind == SiteKind::input) return features_at(*this, site, 0, place);
    return builder.at(value(site).copies, place, step, numbered("H", made.layer), reader);
}

TensorId Passes::fetch_rows(int site, int l, Place place, const std::string& step, OpKind reader) {
    const Site& made = model.at(site);
    const int space = builder.space(l);
    if (space == builder.space(made.layer)) return fetch(site, place, step, reader);
    if (made.kind == SiteKind::input) return features_at(*this, site, space, place);
    const Copies& copies = value(site).copies;
    Copies& part = value(site).part;
    if (!part.in(place)) {
        const std::string name = numbered("H", made.layer) + ".part";
        part.add(place, builder.redistribute(step, copies.at(copies.source_for(place)), place, name, reader, space));
    }
    return part.at(place);
}

}  // namespace gnnplan::lower
