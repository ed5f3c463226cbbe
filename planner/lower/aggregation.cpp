#include "planner/lower/aggregation.hpp"

#include "planner/lower/dense.hpp"

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan::lower {
namespace {

// Gives clones of a vertex the sum over all its edges, in place: that of a forward product which has read `own`.
void sync_sum(Builder& builder, const std::string& step, TensorId sum, TensorId own) {
    SyncRowsStep to_owners{SyncPart::to_owners, sum}, to_clones{SyncPart::to_clones, sum};
    if (*builder.delay() > 0) {
        to_owners.own = own;
        const Layout layout{Axes::parse("x"), Axes::parse("y"), {}};
        const std::int64_t columns = builder.tensor(sum).columns;
        to_owners.in_flight = builder.beside(step + ".to_owners", sum, columns, layout, Role::in_flight);
        to_clones.in_flight = builder.beside(step + ".to_clones", sum, columns, layout, Role::in_flight);
    }
    builder.step(step + ".to_owners", OpKind::aggregate, to_owners);
    builder.step(step + ".to_clones", OpKind::aggregate, to_clones);
}

// A backward product reads the gradient of the sums over the edges of groups. Others read that of whole sums.
TensorId sync_gradient(Builder& builder, const std::string& step, TensorId gradient, const std::string& out) {
    const TensorId own = copy(builder, step + ".copy", gradient, out + ".synced");
    if (*builder.delay() > 0) {
        builder.step(step, OpKind::aggregate, SyncRowsStep{SyncPart::adjoint, own});
    } else {
        sync_sum(builder, step, own, gradient);
    }
    return own;
}

// A product with the adjacency of one of the layer's aggregations, summed where the contraction side is split: in
// spmm_out().
TensorId spmm(Builder& builder, const std::string& step, int l, Direction direction, int hop, TensorId in,
              const std::string& out) {
    const Rules& rules = builder.rules();
    const Grid& grid = rules.configuration().grid;
    SpmmStep product = builder.product(l, direction, hop);
    const Axes partial = partial_over(grid, builder.tensor(product.matrix));
    const auto emit = [&](TensorId result) {
        product.set(SumOperands<TensorId>{in, result});
        builder.step(step, OpKind::aggregate, product);
        return result;
    };
    if (builder.delay() && direction == Direction::backward) in = sync_gradient(builder, step + ".sync", in, out);
    if (partial.empty()) {
        const TensorId made = emit(builder.result_of(product, out, in));
        if (builder.delay() && direction == Direction::forward) sync_sum(builder, step + ".sync", made, in);
        return made;
    }
    const std::string summed = out + ".partial";
    if (builder.tensor(product.matrix).cut()) {
        const TensorId summands = emit(builder.summands(summed, product.matrix, in));
        const TensorId sum = builder.result_of(product, out, in);
        builder.step(step + ".sum_rows", OpKind::aggregate, SumRowsStep{product.matrix, summands, sum});
        return sum;
    }
    const Layout layout{Axes::parse("x"), layout_at(rules.spmm_out()).columns, partial};
    const TensorId summand = emit(builder.beside(summed, product.matrix, builder.tensor(in).columns, layout));
    const TensorId sum = builder.result_of(product, out, in);
    builder.step(step + ".reduce_scatter", OpKind::aggregate, ReduceScatterStep{summand, sum});
    return sum;
}

// The vertices themselves: sum += (self + e) own.
void add_self(Builder& builder, const std::string& step, const Site& product, TensorId sum, TensorId own) {
    MapStep added{MapOp::add_scaled, sum, own, {}, 0, Activation::none, false};
    added.scale = product.self;
    if (product.self_parameter >= 0) added.epsilon = builder.bias(product.self_parameter);
    builder.step(step, OpKind::aggregate, added);
}

// Several aggregations one after the other: x = (1 - a) A^T x + a H from x = H on, where a is the teleport. A gradient
// of H is made of that of the result in the same way, with A: both are the same polynomial of the matrix.
class Propagation {
public:
    Propagation(Builder& builder, std::string at, const Site& site, Direction direction)
        : builder_(builder), at_(std::move(at)), site_(site), direction_(direction) {}

    TensorId emit(TensorId read, const std::string& out) {
        TensorId made = read;
        for (int k = 1; k <= site_.hops; ++k) {
            const bool forward = direction_ == Direction::forward;
            const int hop = forward ? k : site_.hops + 1 - k;
            const std::string at = site_.hops > 1 ? at_ + numbered(".hop", k) : at_;
            const std::string name = k < site_.hops ? out + numbered(".hop", k) : out;
            made = spmm(builder_, at + ".spmm", site_.layer, direction_, hop, made, name);
            if (site_.teleport > 0)
                add_read(at, read, made, name, builder_.space(site_.layer - 1, forward ? hop : hop - 1));
            if (k == site_.hops) break;
            made =
                builder_.redistribute(at + ".redistribute", made, builder_.rules().spmm_in(), name, OpKind::aggregate);
        }
        return made;
    }

private:
    // Where only some rows are needed, each aggregation adds those that it makes.
    void add_read(const std::string& at, TensorId read, TensorId made, const std::string& name, int space) {
        if (!added_ || space != space_)
            added_ = builder_.redistribute(at + ".teleport.redistribute", read, builder_.rules().spmm_out(),
                                           name + ".teleport", OpKind::aggregate, space);
        space_ = space;
        MapStep blend{MapOp::blend, made, *added_, {}, 0, Activation::none, false};
        blend.scale = site_.teleport;
        builder_.step(at + ".teleport", OpKind::aggregate, blend);
    }

    Builder& builder_;
    std::string at_;
    const Site& site_;
    Direction direction_;
    std::optional<TensorId> added_;  // rows of `space_` of what was read
    int space_ = 0;
};

}  // namespace

TensorId multiply(Builder& builder, const std::string& at, const Site& site, Direction direction, TensorId in,
                  const std::string& out, std::optional<TensorId> own) {
    const Rules& rules = builder.rules();
    if (site.propagates()) return Propagation(builder, at, site, direction).emit(in, out);
    const TensorId sum = spmm(builder, at + ".spmm", site.layer, direction, 1, in, out);
    if (!site.adds_self()) return sum;
    if (!own) {
        const int space = builder.space(direction == Direction::forward ? site.layer : site.layer - 1);
        own = builder.redistribute(at + ".self.redistribute", in, rules.spmm_out(), out + ".self", OpKind::aggregate,
                                   space);
    }
    add_self(builder, at + ".self", site, sum, *own);
    return sum;
}

void update_epsilon(Builder& builder, const std::string& step, const Site& product, TensorId left, TensorId right) {
    const TensorId gradient = builder.summand(numbered("y", product.layer) + ".epsilon", 1, 1);
    builder.step(step, OpKind::aggregate, MapStep{MapOp::dot, left, right, gradient, 0, Activation::none, false});
    reduce_and_update(builder, builder.bias(product.self_parameter), gradient, OpKind::aggregate);
}

}  // namespace gnnplan::lower
