// Cross-entropy over the training vertices; in an evaluation, how many vertices of each part, or labels of theirs, are
// right; in an inference, the logits themselves.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// The labels and the subset of each row of some logits.
struct Known {
    TensorId labels, subset;
    std::optional<TensorId> known;

    Known(Builder& builder, TensorId logits, Loss loss)
        : labels(builder.per_row(Role::labels, logits, several_labels(loss))),
          subset(builder.per_row(Role::subset, logits)) {
        if (loss == Loss::masked_sigmoid) known = builder.per_row(Role::known_labels, logits, true);
    }
};

void cross_entropy(Builder& builder, TensorId logits, Loss loss) {
    const Known of(builder, logits, loss);
    const TensorId sum = builder.summand("loss", 1, 1, DType::f64);
    std::optional<TensorId> weights;
    if (builder.has_clones()) weights = builder.per_row(Role::counts_as, logits);
    const OpKind op = operation_of(loss);
    builder.step("loss", op, LossStep{logits, of.labels, of.subset, sum, weights, of.known});
    builder.step("loss.all_reduce", op, AllReduceStep{sum});
}

void score(Builder& builder, TensorId logits, Loss loss) {
    const Known of(builder, logits, loss);
    const std::int64_t numbers = several_labels(loss) ? ScoreStep::decided : ScoreStep::classified;
    const TensorId counts = builder.summand("correct", 1, numbers + 1, DType::f64);
    const OpKind op = operation_of(loss);
    builder.step("score", op, ScoreStep{logits, of.labels, of.subset, counts, of.known});
    builder.step("score.all_reduce", op, AllReduceStep{counts});
}

// By how much the second of two classes is more likely than the first, as a logit.
TensorId margin_of(Builder& builder, TensorId logits) {
    const TensorId margin = builder.beside("margin", logits, 1, layout_r());
    builder.step("margin", OpKind::softmax_cross_entropy,
                 MapStep{MapOp::difference, logits, {}, margin, 0, Activation::none, false});
    return margin;
}

// A rank ranks the vertices by all logits of some labels. Of two classes, vertices without one are not known.
void rank(Builder& builder, TensorId logits, Loss loss) {
    const OpKind op = operation_of(loss);
    const std::int64_t columns = builder.tensor(logits).columns;
    const Grid grid = builder.rules().configuration().grid_of_ranks();
    TensorId whole = logits;
    if (!same_placement(builder.tensor(logits).layout, layout_columns(), grid)) {
        whole = builder.beside("logits.columns", logits, columns, layout_columns());
        builder.step("rank.redistribute", op, RedistributeStep{logits, whole});
    }
    const Known of(builder, whole, several_labels(loss) ? loss : Loss::masked_sigmoid);
    const TensorId order = builder.like("order", whole, DType::f64);
    const TensorId sums = builder.summand("ranks", RankSumStep::rows, columns, DType::f64);
    builder.step("rank", op, RankSumStep{whole, of.labels, of.subset, order, sums, of.known});
    builder.step("rank.all_reduce", op, AllReduceStep{sums});
}

}  // namespace

// An evaluation ends with the score: nothing takes the place of its logits, which a run may write.
void forward_loss(Passes& passes, int id) {
    Builder& builder = passes.builder;
    const Site& site = passes.model.at(id);
    builder.begin(Pass::forward, site.layer);
    Copies& copies = passes.value(site.input).copies;
    const bool several = several_labels(site.loss), ranks = !passes.training && site.rocauc;
    if (ranks && several) rank(builder, copies.at(copies.source_for(Place::r)), site.loss);
    const Place wanted = passes.training ? passes.rules.loss_place() : Place::r;
    const TensorId logits = builder.at(copies, wanted, "forward.logits", "logits", operation_of(site.loss));
    if (ranks && !several) rank(builder, margin_of(builder, logits), site.loss);
    passes.training ? cross_entropy(builder, logits, site.loss) : score(builder, logits, site.loss);
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
