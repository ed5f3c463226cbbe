#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// The features in `place`, dropped while training. Every layout in which they are wanted is filled at load.
TensorId features_at(Passes& passes, int site, Place place) {
    Builder& builder = passes.builder;
    Copies& copies = passes.value(site).copies;
    if (copies.in(place)) return copies.at(place);
    const Place source = copies.source_for(place);
    if (!builder.places_differ() && copies.in(source)) return copies.at(source);
    TensorId id = builder.features(place);
    if (passes.training && passes.model.at(site).dropout > 0 && !builder.configuration().constant_input) {
        id = builder.dropout_input(std::string("dropout.0") + suffix(place), id,
                                   std::string("H0.dropped") + suffix(place));
    }
    copies.add(place, id);
    return id;
}

}  // namespace

TensorId Passes::fetch(int site, Place place, const std::string& step, OpKind reader) {
    const Site& made = model.at(site);
    if (made.kind == SiteKind::input) return features_at(*this, site, place);
    return builder.at(value(site).copies, place, step, numbered("H", made.layer), reader);
}

}  // namespace gnnplan::lower
