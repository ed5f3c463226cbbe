#include "planner/lower/aggregation.hpp"

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan::lower {
namespace {

// A product with the adjacency, summed where the contraction side is split: in spmm_out().
TensorId spmm(Builder& builder, const std::string& step, int l, Direction direction, TensorId in,
              const std::string& out) {
    const Rules& rules = builder.rules();
    const Grid& grid = rules.configuration().grid;
    SpmmStep product = builder.product(l, direction);
    const Axes partial = partial_over(grid, builder.tensor(product.matrix));
    const auto emit = [&](TensorId result) {
        product.set(SumOperands<TensorId>{in, result});
        builder.step(step, OpKind::aggregate, product);
        return result;
    };
    if (partial.empty()) return emit(builder.result_of(product, out, in));
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

}  // namespace

TensorId multiply(Builder& builder, const std::string& at, const Site& site, Direction direction, TensorId in,
                  const std::string& out, std::optional<TensorId> own) {
    const Rules& rules = builder.rules();
    const TensorId sum = spmm(builder, at + ".spmm", site.layer, direction, in, out);
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
    builder.reduce_and_update(builder.bias(product.self_parameter), gradient, OpKind::aggregate);
}

}  // namespace gnnplan::lower
