#include "planner/lower/heads.hpp"

#include <utility>

namespace gnnplan::lower {

Place HeadSteps::place() const {
    return cuts_heads(builder_.rules().configuration().grid, site_.heads.count) ? Place::f : Place::c;
}

TensorId HeadSteps::by_heads(const std::string& name, TensorId of, const Layout& layout) const {
    return builder_.beside(name, of, site_.heads.count, layout);
}

TensorId HeadSteps::dot(const std::string& step, TensorId x, TensorId y, const std::string& out) const {
    Layout layout = builder_.tensor(x).layout;
    if (!layout.columns.empty() && place() == Place::f) layout = {layout.rows, {}, layout.columns};
    const TensorId result = by_heads(out, x, layout);
    emit(step, HeadOp::dot, {x, y}, result);
    return result;
}

TensorId HeadSteps::summed(const std::string& step, TensorId by_heads) const {
    const bool summand = !builder_.tensor(by_heads).layout.partial.empty();
    if (summand) builder_.step(step + ".all_reduce", OpKind::aggregate, AllReduceStep{by_heads});
    return by_heads;
}

void HeadSteps::emit(const std::string& step, HeadOp op, std::vector<TensorId> in, TensorId out) const {
    builder_.step(step, OpKind::aggregate, HeadStep{op, site_.heads.count, std::move(in), out});
}

TensorId edge_transpose(Builder& builder, const std::string& step, int l, TensorId in, const std::string& out) {
    const TensorId matrix = builder.product(l, Direction::backward).matrix;
    const Tensor of = builder.tensor(in);
    const TensorId transposed = builder.edges(out, matrix, of.columns, of.layout.columns);
    builder.step(step, OpKind::aggregate, EdgeTransposeStep{in, transposed});
    return transposed;
}

}  // namespace gnnplan::lower
