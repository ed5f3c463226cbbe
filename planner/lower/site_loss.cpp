// Softmax cross-entropy over the training vertices; in an evaluation, how many vertices of each part are right; in an
// inference, the logits themselves.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

void cross_entropy(Builder& builder, TensorId logits) {
    const TensorId label = builder.per_row(Role::labels, logits);
    const TensorId part = builder.per_row(Role::subset, logits);
    const TensorId sum = builder.summand("loss", 1, 1, DType::f64);
    std::optional<TensorId> weights;
    if (builder.has_clones()) weights = builder.per_row(Role::counts_as, logits);
    builder.step("loss", OpKind::softmax_cross_entropy, LossStep{logits, label, part, sum, weights});
    builder.all_reduce("loss.all_reduce", sum, OpKind::softmax_cross_entropy);
}

void score(Builder& builder, TensorId logits) {
    const TensorId label = builder.per_row(Role::labels, logits);
    const TensorId part = builder.per_row(Role::subset, logits);
    const TensorId counts = builder.summand("correct", 1, ScoreStep::values, DType::f64);
    builder.step("score", OpKind::softmax_cross_entropy, ScoreStep{logits, label, part, counts});
    builder.all_reduce("score.all_reduce", counts, OpKind::softmax_cross_entropy);
}

}  // namespace

void forward_loss(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    builder.begin(Pass::forward, site.layer);
    const Place wanted = passes.training ? passes.rules.loss_place() : Place::r;
    const TensorId logits =
        builder.at(passes.value(site.input).copies, wanted, "forward.logits", "logits", OpKind::softmax_cross_entropy);
    passes.training ? cross_entropy(builder, logits) : score(builder, logits);
}

// The loss has put its gradient in place of the logits.
void backward_loss(Passes& passes, int id) {
    const int logits = passes.model.at(id).input;
    const Place place = passes.rules.loss_place();
    passes.gradient(logits).copies.add(place, passes.value(logits).copies.at(place));
}

void forward_output(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    builder.begin(Pass::forward, site.layer);
    builder.output(builder.at(passes.value(site.input).copies, Place::r, "forward.logits", "logits", OpKind::output));
}

}  // namespace gnnplan::lower
