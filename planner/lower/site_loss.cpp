// Softmax cross-entropy over the training vertices; in an evaluation, how many vertices of each part are right; in an
// inference, the logits themselves.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {

void forward_loss(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    builder.begin(Pass::forward, site.layer);
    const Place wanted = passes.training ? builder.loss_place() : Place::r;
    const TensorId logits =
        builder.at(passes.value(site.input).copies, wanted, "forward.logits", "logits", OpKind::softmax_cross_entropy);
    passes.training ? builder.loss(logits) : builder.score(logits);
}

// The loss has put its gradient in place of the logits.
void backward_loss(Passes& passes, int id) {
    const int logits = passes.model.at(id).input;
    const Place place = passes.builder.loss_place();
    passes.gradient(logits).copies.add(place, passes.value(logits).copies.at(place));
}

void forward_output(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    builder.begin(Pass::forward, site.layer);
    builder.output(builder.at(passes.value(site.input).copies, Place::r, "forward.logits", "logits", OpKind::output));
}

}  // namespace gnnplan::lower
