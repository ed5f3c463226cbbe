#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/op_graph.hpp>

namespace gnnplan {
namespace {

// Walks the ops one after the other, each reading the one before it.
class ChainReader {
public:
    explicit ChainReader(const OpGraph& graph) : graph_(graph) {}

    bool at(OpKind kind) const { return next_ < graph_.ops.size() && graph_.ops[next_].kind == kind && follows(); }
    const Op& take(OpKind kind) {
        if (!at(kind)) refuse();
        return graph_.ops[next_++];
    }
    bool take_if(OpKind kind) { return at(kind) && (++next_, true); }
    bool done() const { return next_ == graph_.ops.size(); }
    [[noreturn]] void refuse() const {
        throw Error(ErrorCode::usage, "operation " + std::to_string(next_) + " does not fit a chain of A^T H W layers",
                    "model " + graph_.model, "this model needs a lowering rule of its own");
    }

private:
    bool follows() const {
        const auto& inputs = graph_.ops[next_].inputs;
        return next_ == 0 ? inputs.empty() : inputs == std::vector<int>{static_cast<int>(next_) - 1};
    }

    const OpGraph& graph_;
    std::size_t next_ = 0;
};

ProductLayer take_layer(ChainReader& ops, std::int64_t in_width) {
    ProductLayer layer;
    layer.in_width = in_width;
    layer.dropout = ops.take_if(OpKind::dropout);
    if (ops.at(OpKind::aggregate)) {
        ops.take(OpKind::aggregate);
        layer.out_width = ops.take(OpKind::linear).width;
    } else {
        layer.out_width = ops.take(OpKind::linear).width;
        ops.take(OpKind::aggregate);
    }
    layer.bias = ops.take_if(OpKind::bias);
    layer.relu = ops.take_if(OpKind::relu);
    return layer;
}

}  // namespace

std::vector<ProductLayer> product_chain(const OpGraph& graph) {
    ChainReader ops(graph);
    std::vector<ProductLayer> layers;
    std::int64_t width = ops.take(OpKind::input).width;
    while (!ops.take_if(OpKind::softmax_cross_entropy)) {
        layers.push_back(take_layer(ops, width));
        width = layers.back().out_width;
    }
    if (layers.empty() || !ops.done()) ops.refuse();
    return layers;
}

}  // namespace gnnplan
